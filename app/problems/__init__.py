"""Problems: what a person should do. They open, change and close by themselves;
modules say what to look for (`Module.problems`).

looking.py compares facts with problems, transitions.py decides what opens and closes, storing.py writes it.
What people do: acts.py.
"""
