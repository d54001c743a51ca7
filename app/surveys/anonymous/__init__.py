"""What was answered to anonymous surveys: ballots while a version is open, results once it is closed."""
