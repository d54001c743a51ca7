"""What each TC code of a run or a test means to an operator, and what to do. The codes are in app.clock.codes. Pure."""

from dataclasses import dataclass, replace

from app.clock.codes import TC_CODES, TcCode


@dataclass(frozen=True, slots=True)
class FailureWords:
    """`advice` begins with a verb: what the reader does next."""

    code: str
    meaning: str
    cause: str
    advice: str


_ADVICE: dict[TcCode, str] = {
    TcCode.NET: (
        "Test the connection in Settings: it names the step that fails. Look at the server, its name and the firewall."
        " Rows that were read are kept; the next run continues."
    ),
    TcCode.POLICY: (
        "Ask the administrator of this server to allow the address (MUSTER_OUTBOUND_ALLOW), or give one that may be reached."
    ),
    TcCode.AUTH: "Check user name and password on the server, then save the right password in Settings and test it.",
    TcCode.TOKEN: "Start another run. If it comes back, somebody else may use the same account: give Muster its own.",
    TcCode.SHAPE: (
        "See in the run which rows or which answer could not be read. A proxy or a new version of the server is the usual"
        " reason; a redirect names the address to use."
    ),
    TcCode.REMOTE: "Look at the message and the API calls of the run. The fault is on the server; the next run tries again.",
    TcCode.RATE: "Wait: the next run starts when the server allows it. To avoid it, set a longer interval or a smaller budget.",
    TcCode.CONFLICT: "Open Employees & Bindings with the state Conflict, and bind each code to the right person.",
    TcCode.LOCKED: "Save the right password in Settings, or wait until the lock has expired and retry.",
    TcCode.TRUNCATED: "Nothing: the next run continues where this one stopped.",
    TcCode.IMPORT: "Look at the log of the host under the time of the run. Punches are kept and are imported once it works.",
}
# After a test: no run has begun, and the reader is where the connection is changed and tested.
_ADVICE_OF_TEST: dict[TcCode, str] = {
    TcCode.NET: "Check the address, the server and the firewall, then test again.",
    TcCode.AUTH: "Check the user name and the password on the server. Save the right ones, then test again.",
    TcCode.TOKEN: "Test again. If it comes back, somebody else may use the same account: give Muster its own.",
    TcCode.SHAPE: (
        "Check the address and the kind of server. A proxy that answers in place of the server is the usual reason; a"
        " redirect names the address to use."
    ),
    TcCode.REMOTE: "Look at the message and at the log of the server, then test again.",
    TcCode.RATE: "Wait some minutes, then test again.",
    TcCode.LOCKED: "Save the right password, or wait until the lock has expired and test again.",
}
ALL = {
    code.value: FailureWords(code.value, words.meaning, words.cause, _ADVICE[code]) for code, words in TC_CODES.items()
}


def words(code: str | None) -> FailureWords | None:
    """None for no code, and for one that is not ours."""
    return ALL.get(code or "")


def words_of_test(code: str | None) -> FailureWords | None:
    """As `words`, with what helps after a test."""
    found = words(code)
    return found and replace(found, advice=_ADVICE_OF_TEST.get(TcCode(found.code), found.advice))
