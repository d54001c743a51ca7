"""Which addresses an outbound call may reach, and how the allow list is written. Opens no connection."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# ipaddress.is_global is no filter for this: it passes NAT64, 6to4, multicast and cloud metadata addresses.
_REFUSED_V4 = [
    ("0.0.0.0/8", "this network"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "shared by carriers"),
    ("127.0.0.0/8", "this machine itself"),
    ("168.63.129.16/32", "cloud metadata"),
    ("169.254.0.0/16", "link-local, cloud metadata"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "reserved, cloud metadata"),
    ("192.0.2.0/24", "documentation"),
    ("192.31.196.0/24", "reserved"),
    ("192.52.193.0/24", "reserved"),
    ("192.88.99.0/24", "6to4 relay"),
    ("192.168.0.0/16", "private"),
    ("192.175.48.0/24", "reserved"),
    ("198.18.0.0/15", "benchmarking"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved, broadcast"),
]
_REFUSED_V6 = [
    ("2001::/32", "Teredo tunnel"),
    ("2001::/23", "reserved"),
    ("2001:db8::/32", "documentation"),
    ("2002::/16", "6to4 tunnel"),
    ("2620:4f:8000::/48", "reserved"),
    ("3fff::/20", "documentation"),
    # Everything outside 2000::/3 is refused anyway; these only give the reader a better word.
    ("::1/128", "this machine itself"),
    ("::/128", "unspecified"),
    ("64:ff9b::/96", "NAT64"),
    ("64:ff9b:1::/48", "NAT64"),
    ("fc00::/7", "private, cloud metadata"),
    ("fe80::/10", "link-local"),
    ("ff00::/8", "multicast"),
]
_V4 = [(IPv4Network(text), word) for text, word in _REFUSED_V4]
_V6 = [(IPv6Network(text), word) for text, word in _REFUSED_V6]
_GLOBAL_V6 = IPv6Network("2000::/3")

_MAPPED_BITS = 96  # ::ffff:0:0/96 holds IPv4 written inside IPv6
_PORT = re.compile(r"0*[1-9][0-9]{0,4}")
_LAST_PORT = 65535

SYNTAX = "write networks as 10.0.0.0/8, 127.0.0.1/32:9009, fd00::/8 or [::1]/128:9009, separated by commas"


class AllowListError(ValueError):
    """The allow list cannot be read; the message names the part and shows the syntax."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """One entry of the allow list: a network, on one port or (None) on all."""

    network: Network
    port: int | None

    def covers(self, address: Address, port: int) -> bool:
        return address in self.network and self.port in (None, port)


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """Public unicast addresses, and the networks that the host's administrator allowed (MUSTER_OUTBOUND_ALLOW)."""

    allowed: tuple[Allowed, ...] = ()

    def refusal(self, address: str, port: int) -> str | None:
        """Why this address and port may not be dialled, in a word or two; None when it may."""
        parsed = _parse_address(address)
        if parsed is None:
            return "not an IP address"
        if any(entry.covers(parsed, port) for entry in self.allowed):
            return None
        return _special(parsed)


def entry_for(address: str, port: int) -> str:
    """What the allow list must say so that this address alone may be dialled on this port."""
    parsed = ip_address(address)
    return f"[{parsed}]/128:{port}" if isinstance(parsed, IPv6Address) else f"{parsed}/32:{port}"


def parse_allow_list(text: str) -> tuple[Allowed, ...]:
    """The entries of MUSTER_OUTBOUND_ALLOW, in order. Raises AllowListError naming the entry that cannot be read."""
    return tuple(_parse_entry(item.strip()) for item in text.split(",") if item.strip())


def _special(address: Address) -> str | None:
    if isinstance(address, IPv4Address):
        return next((word for network, word in _V4 if address in network), None)
    word = next((word for network, word in _V6 if address in network), None)
    return word or (None if address in _GLOBAL_V6 else "not public")


def _parse_address(text: str) -> Address | None:
    """IPv4 written inside IPv6 (::ffff:127.0.0.1) counts as the IPv4 address that the system would dial."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def _parse_entry(item: str) -> Allowed:
    network_text, port_text = _split_port(item)
    try:
        network = ip_network(network_text)
    except ValueError as error:
        raise AllowListError(f"MUSTER_OUTBOUND_ALLOW: {item!r} is not a network ({error}); {SYNTAX}") from None
    if port_text is None:
        return Allowed(_unmapped(network), None)
    if not _PORT.fullmatch(port_text) or int(port_text) > _LAST_PORT:
        raise AllowListError(f"MUSTER_OUTBOUND_ALLOW: {item!r} has no port between 1 and 65535; {SYNTAX}")
    return Allowed(_unmapped(network), int(port_text))


def _split_port(item: str) -> tuple[str, str | None]:
    """`[::1]/128:9009` → (`::1/128`, `9009`). A bare IPv6 address keeps all its colons."""
    if item.startswith("[") and "]" in item:
        inside, _, after = item[1:].partition("]")
        length, colon, port = after.partition(":")
        return inside + length, port if colon else None
    head, slash, tail = item.partition("/")
    if slash:
        length, colon, port = tail.partition(":")
        return f"{head}/{length}", port if colon else None
    if item.count(":") == 1:
        head, _, port = item.partition(":")
        return head, port
    return item, None


def _unmapped(network: Network) -> Network:
    """::ffff:10.0.0.0/104 is 10.0.0.0/8: addresses are compared after the same step."""
    if isinstance(network, IPv6Network) and network.network_address.ipv4_mapped and network.prefixlen >= _MAPPED_BITS:
        return IPv4Network((network.network_address.ipv4_mapped, network.prefixlen - _MAPPED_BITS))
    return network
