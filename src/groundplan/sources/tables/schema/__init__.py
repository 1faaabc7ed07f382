"""The schema of the tables: columns, keys, values."""
