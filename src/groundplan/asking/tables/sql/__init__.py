"""SQL as a language for readings: parsed into one, and written from one. None of it is run."""
