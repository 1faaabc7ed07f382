"""SQL that a model writes and nobody runs: read into the typed reading, and printed from it."""
