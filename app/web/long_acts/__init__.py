"""Long acts as pages know them: a bulk act that a job carries out (bulk), and what each kind is called (known)."""
