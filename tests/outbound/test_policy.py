"""Which addresses may be reached, and how the allow list is written."""

import ipaddress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.outbound import AddressPolicy, AllowListError, parse_allow_list
from app.outbound.policy import entry_for

PUBLIC = AddressPolicy()


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001::200e"]
)
def test_public_addresses_may_be_reached(address: str) -> None:
    assert PUBLIC.refusal(address, 443) is None


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "168.63.129.16",
        "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1",
        "192.168.1.1", "192.175.48.1",
        "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1",
        "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:0:53aa:64c::1", "2001:db8::1",
        "2001:10::1", "2001:20::1", "2002:7f00:1::", "2002:a00:1::1", "2620:4f:8000::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254",
        "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "ff0e::1", "4000::1",
    ],
)  # fmt: skip
def test_special_addresses_may_not_be_reached(address: str) -> None:
    assert PUBLIC.refusal(address, 443) is not None


@pytest.mark.parametrize(
    ("address", "word"),
    [
        ("168.63.129.16", "cloud metadata"),
        ("192.0.0.192", "reserved, cloud metadata"),
        ("2001:0:53aa:64c::1", "Teredo tunnel"),
        ("2001:20::1", "reserved"),
        ("::", "unspecified"),
        ("::1", "this machine itself"),
        ("64:ff9b::7f00:1", "NAT64"),
        ("64:ff9b:1::1", "NAT64"),
        ("fd00:ec2::254", "private, cloud metadata"),
        ("fe80::1", "link-local"),
        ("ff02::1", "multicast"),
        ("4000::1", "not public"),
    ],
)
def test_the_narrowest_network_gives_the_word(address: str, word: str) -> None:
    assert PUBLIC.refusal(address, 443) == word


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "0x7f.0.0.1", "2130706433", "1.2.3.4.5", "1.1.1.1\n"])
def test_what_is_not_an_address_is_refused(text: str) -> None:
    assert PUBLIC.refusal(text, 443) == "not an IP address"


def test_an_allowed_network_may_be_reached_on_every_port() -> None:
    policy = AddressPolicy(parse_allow_list("10.1.0.0/16"))
    assert policy.refusal("10.1.2.3", 80) is None
    assert policy.refusal("::ffff:10.1.2.3", 80) is None
    assert policy.refusal("10.2.0.1", 80) == "private"


def test_an_allowed_port_opens_no_other_port() -> None:
    policy = AddressPolicy(parse_allow_list("127.0.0.1/32:9009, [::1]/128:9010"))
    assert policy.refusal("127.0.0.1", 9009) is None
    assert policy.refusal("127.0.0.1", 5432) == "this machine itself"
    assert policy.refusal("127.0.0.2", 9009) == "this machine itself"
    assert policy.refusal("::1", 9010) is None
    assert policy.refusal("::1", 9009) == "this machine itself"


@pytest.mark.parametrize(
    ("text", "network", "port"),
    [
        ("10.0.0.0/8", "10.0.0.0/8", None),
        (" 127.0.0.1/32:9009 ", "127.0.0.1/32", 9009),
        ("127.0.0.1:9009", "127.0.0.1/32", 9009),
        ("127.0.0.1", "127.0.0.1/32", None),
        ("127.0.0.1:1", "127.0.0.1/32", 1),
        ("127.0.0.1:65535", "127.0.0.1/32", 65535),
        ("[::1]/128:9009", "::1/128", 9009),
        ("[::1]:9009", "::1/128", 9009),
        ("[fd00::]/8", "fd00::/8", None),
        ("fd00::/8", "fd00::/8", None),
        ("fd00::/8:443", "fd00::/8", 443),
        ("::1", "::1/128", None),
        ("::ffff:10.0.0.0/104", "10.0.0.0/8", None),
    ],
)
def test_an_entry_is_a_network_with_or_without_a_port(text: str, network: str, port: int | None) -> None:
    (entry,) = parse_allow_list(text)
    assert (entry.network, entry.port) == (ipaddress.ip_network(network), port)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.20.0.7", "::1", "fd00::7"])
def test_the_entry_that_is_told_allows_the_address_and_no_other_port(address: str) -> None:
    policy = AddressPolicy(parse_allow_list(entry_for(address, 9009)))
    assert policy.refusal(address, 9009) is None
    assert policy.refusal(address, 9010) is not None


def test_an_empty_list_allows_nothing() -> None:
    assert parse_allow_list("") == parse_allow_list(" , ,") == ()


@pytest.mark.parametrize(
    "text",
    ["localhost", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/8:0", "10.0.0.0/8:65536", "10.0.0.0/8:http", "10.0.0.0/8:",
     "10.0.0.0/8:99999999999999999999", "[::1", "[::1]x:80", "http://10.0.0.1", "10.0.0.0/8;11.0.0.0/8", "10.0.0.0/8:８０"],
)  # fmt: skip
def test_what_cannot_be_read_is_named_with_the_syntax(text: str) -> None:
    with pytest.raises(AllowListError) as caught:
        parse_allow_list(f"192.168.0.0/16,{text}")
    assert text in str(caught.value)
    assert "127.0.0.1/32:9009" in str(caught.value)


@settings(max_examples=200, deadline=None)
@given(st.ip_addresses())
def test_nothing_that_python_calls_private_or_multicast_passes(address: ipaddress.IPv4Address) -> None:
    address = getattr(address, "ipv4_mapped", None) or address
    if (
        address.is_private
        or address.is_multicast
        or address.is_reserved
        or address.is_link_local
        or not address.is_global
    ):
        assert PUBLIC.refusal(str(address), 443) is not None
