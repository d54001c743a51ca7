"""Taking a tenant from one installation to another: the file, what happens to each table, how it leaves and how it arrives."""
