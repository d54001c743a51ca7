"""Where passkeys work: under https with a name, and at http://localhost."""

import pytest

from app.accounts.passkey_site import PasskeySite, site_of, why_not
from app.config import read_settings

OVER_HTTPS = "Passkeys work only over https, and the address of this portal is"
BY_NAME = "Passkeys need a name in the address of the portal, and this one is"


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("https://muster.example", "muster.example"),
        ("https://muster.example:8443", "muster.example"),
        ("https://muster", "muster"),
        ("https://1.muster.example", "1.muster.example"),
        ("https://localhost:8000", "localhost"),
        ("http://localhost", "localhost"),
        ("http://localhost:8000", "localhost"),
    ],
)
def test_here_they_work_and_belong_to_the_name(base_url: str, name: str) -> None:
    assert why_not(base_url) == ""
    assert site_of(base_url) == PasskeySite(name, base_url)


@pytest.mark.parametrize(
    ("base_url", "why"),
    [
        ("http://muster.example", OVER_HTTPS),
        ("http://localhost.example", OVER_HTTPS),
        ("http://muster.localhost", OVER_HTTPS),
        ("http://127.0.0.1:8000", OVER_HTTPS),
        ("http://[::1]:8000", OVER_HTTPS),
        ("https://192.0.2.1", BY_NAME),
        ("https://192.0.2.1:8443", BY_NAME),
        ("https://127.1", BY_NAME),
        ("https://0x7f.0.0.0x1", BY_NAME),
        ("https://2130706433", BY_NAME),
        ("https://192.0.2.1.", BY_NAME),
        ("https://[2001:db8::1]", BY_NAME),
    ],
)
def test_elsewhere_one_sentence_says_why_not(base_url: str, why: str) -> None:
    assert why_not(base_url) == f"{why} {base_url}."
    assert site_of(base_url) is None


def test_the_address_is_taken_as_the_settings_leave_it() -> None:
    """Browsers sign the origin in lower case and without the port that is meant anyway."""
    settings = read_settings({"MUSTER_BASE_URL": "https://Muster.Example:443/"})
    assert site_of(settings.base_url) == PasskeySite("muster.example", "https://muster.example")
