"""Tests of the switches that notice when a backup, or Muster itself, stops."""
