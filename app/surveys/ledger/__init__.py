"""The append-only record of every answer, its personal evidence, and the proof that nothing was changed."""
