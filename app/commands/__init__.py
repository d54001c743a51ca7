"""The commands, one file per noun; each calls one function of a module. app.cli lists the files."""
