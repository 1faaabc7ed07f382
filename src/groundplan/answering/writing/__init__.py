"""Facts to sentences, each value with its citation."""
