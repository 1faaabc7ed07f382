"""What the tables hold: columns, keys, values."""
