"""Notices above every page of the portal."""
