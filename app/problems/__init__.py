"""Problems: what a person should do. They open, change and close by themselves; modules say what to look for (`Module.problems`)."""
