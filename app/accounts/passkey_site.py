"""Where passkeys work: a browser binds each to the name in the portal's address, and uses it on secure pages only.
Pure."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from app.wording.marked import worded


@dataclass(frozen=True, slots=True)
class PasskeySite:
    """`name` is what a passkey belongs to (the relying party's id); `origin` is the address that a browser signs."""

    name: str
    origin: str


def site_of(base_url: str) -> PasskeySite | None:
    """None when passkeys do not work; `why_not` says why."""
    return None if why_not(base_url) else PasskeySite(urlsplit(base_url).hostname or "", base_url)


def why_not(base_url: str) -> str:
    """One sentence, "" when passkeys work. `base_url` is an origin as browsers write it; app.config sees to that."""
    address = urlsplit(base_url)
    host = address.hostname or ""
    match address.scheme:
        case "http" if host == "localhost":
            return ""
        case "http":
            return worded(
                "Passkeys work only over https, and the address of this portal is {address}.", address=base_url
            )
        case _ if _is_ip_address(host):
            return worded(
                "Passkeys need a name in the address of the portal, and this one is {address}.", address=base_url
            )
        case _:
            return ""


def _is_ip_address(host: str) -> bool:
    """As browsers decide it: a name whose last part is a number is an IPv4 address, `https://127.1` too."""
    last = host.removesuffix(".").rpartition(".")[2]
    return ":" in host or re.fullmatch(r"\d+|0x[0-9a-f]*", last, re.ASCII) is not None
