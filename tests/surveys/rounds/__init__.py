"""Rounds of surveys that repeat."""
