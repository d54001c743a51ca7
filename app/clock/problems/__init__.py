"""What goes wrong with the clock and is for a person to put right: facts read in SQL, pure detectors, and the acts that
help.

source.py lists the kinds. NAME_facts.py reads what NAME_detectors.py judges. silence.py says how long a clock or a
terminal may be silent, and that a weekend is no silence; remedies.py has the acts.
"""
