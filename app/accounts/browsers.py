"""Describes a User-Agent header in a few words, so that a person recognises their own browser."""

from app.wording.marked import marked, worded

# The first word that occurs decides, because each browser also claims to be those below it.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
    ("curl", "curl"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def described(user_agent: str) -> str:
    """`Firefox on Windows`; the beginning of the header when it names no known browser."""
    browser = next((name for word, name in _BROWSERS if word in user_agent), "")
    system = next((name for word, name in _SYSTEMS if word in user_agent), "")
    if not browser:
        return user_agent[:60] or marked("Unknown browser")
    return worded("{browser} on {system}", browser=browser, system=system) if system else browser
