"""Moves a tenant from one installation to another: the file (box), what happens to each table (tables), the export
(leaving) and the import (arriving), which also checks that the versions fit."""
