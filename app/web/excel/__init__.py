"""Excel files of lists: what a cell is, and the process of its own that writes them, so that no page waits for one."""
