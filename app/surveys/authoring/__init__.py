"""Writing a survey: its definition, its versions, who may be asked, and surveys as files.

actions.py has the acts of authors: create, save, publish and so on. definition.py and content.py say what a survey is,
stored.py reads it and rows.py writes it. opening.py opens the next round, files.py reads and writes a survey as a file.
"""
