"""The fixed words of the app library and their labels. Pure."""

STATUSES = {"draft": "Draft", "published": "Published", "retired": "Retired"}
PLATFORMS = {"ios": "iOS", "android": "Android", "web": "Web"}
