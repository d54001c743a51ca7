"""Drawings as numbers: round ticks, positions and comparisons, which templates only print. No HTML, no database."""
