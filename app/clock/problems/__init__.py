"""What goes wrong with the clock and is for a person to put right: facts read in SQL, pure detectors, and the acts that help."""
