"""The table tools, as lazy Ibis expressions."""
