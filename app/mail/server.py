"""Handing a message to the mail server. Certificates are checked. The policy of outbound calls does not apply, because
the people who run the host set the address."""

import asyncio
import ssl
from email.message import EmailMessage
from types import TracebackType
from typing import Self

import aiosmtplib

from app.config.smtp import SmtpServer

PATIENCE_S = 20
_LONGEST = 200
_PERMANENT = range(500, 600)
# The code of RFC 3463 for a refusal by policy: the server takes nothing from us, to any address.
_POLICY = "5.7."


class MailServerError(Exception):
    """The server takes no mail at all: it is away, or refuses us. All mails wait. The text names no password."""


class MailRefused(Exception):
    """The server refused this message. `for_good`: it would refuse it again. `for_address`: it takes nothing for this
    address, but may take all other mail. The text names no address."""

    def __init__(self, sentence: str, *, for_good: bool, for_address: bool = False) -> None:
        super().__init__(sentence)
        self.for_good, self.for_address = for_good, for_address


class MailServer:
    """A connection, made with the first message. One task at a time may use it."""

    def __init__(self, server: SmtpServer) -> None:
        self._server = server
        self._client: aiosmtplib.SMTP | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        if self._client is not None:
            self._client.close()

    async def send(self, message: "EmailMessage[str, str]", to: str, within_s: float) -> None:
        """Raises MailServerError, also when it takes longer than `within_s` in all, or MailRefused. Only `to` gets it,
        whatever the head of the message says."""
        try:
            async with asyncio.timeout(within_s):
                await self._send(message, to, within_s)
        except TimeoutError as late:
            self._close()
            raise _away(late) from None

    async def _send(self, message: "EmailMessage[str, str]", to: str, within_s: float) -> None:
        client = await self._connected()
        try:
            await client.send_message(message, recipients=[to], timeout=within_s)
        except aiosmtplib.SMTPRecipientsRefused as refused:
            raise _refused_address(refused.recipients[0]) from None
        except aiosmtplib.SMTPRecipientRefused as refused:
            raise _refused_address(refused) from None
        except aiosmtplib.SMTPDataError as refused:
            raise MailRefused(_said(refused), for_good=_is_final(refused)) from None
        except aiosmtplib.SMTPNotSupported:
            said = "The mail server takes no address with such letters."
            raise MailRefused(said, for_good=True, for_address=True) from None
        except (aiosmtplib.SMTPException, OSError) as error:
            raise _away(error) from None

    async def _connected(self) -> aiosmtplib.SMTP:
        if self._client is None or not self._client.is_connected:
            self._client = self._new_client()
            try:
                await self._client.connect()
            except (aiosmtplib.SMTPException, OSError) as error:
                raise _away(error) from None
        return self._client

    def _new_client(self) -> aiosmtplib.SMTP:
        server = self._server
        return aiosmtplib.SMTP(
            hostname=server.host,
            port=server.port,
            username=server.user or None,
            password=server.password or None,
            use_tls=server.security == "tls",
            start_tls=server.security == "starttls",
            tls_context=None if server.security == "none" else ssl.create_default_context(),
            timeout=PATIENCE_S,
        )


def _away(error: Exception) -> MailServerError:
    return MailServerError(_said(error) if isinstance(error, aiosmtplib.SMTPResponseException) else _reason(error))


def _refused_address(refused: aiosmtplib.SMTPResponseException) -> MailRefused:
    final = _is_final(refused)
    for_address = final and not str(refused.message).lstrip().startswith(_POLICY)
    return MailRefused(_said(refused), for_good=final, for_address=for_address)


def _is_final(refused: aiosmtplib.SMTPResponseException) -> bool:
    return refused.code in _PERMANENT


def _said(refused: aiosmtplib.SMTPResponseException) -> str:
    """The server's words without addresses: the platform shows them, and the mail may be a tenant's."""
    words = ("(an address)" if "@" in word else word for word in str(refused.message).split())
    said = " ".join(words)[:_LONGEST]
    return f"The mail server answered {refused.code}: {said}"


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "The mail server did not answer in time."
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"The certificate of the mail server does not hold: {error.verify_message}."
    if isinstance(error, aiosmtplib.SMTPServerDisconnected):
        return "The mail server ended the connection."
    return f"The mail server could not be reached ({type(error).__name__})."
