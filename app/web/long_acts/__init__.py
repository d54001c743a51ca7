"""Long acts as pages know them: a bulk act that a job carries out (bulk), and how a page tells of one (words)."""
