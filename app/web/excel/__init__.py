"""Excel files of lists. A process of its own writes each one, so that no page waits for it.

workbooks.py starts that process, and says how many files are written at once. writing.py is the process, cells.py says
what a cell is.
"""
