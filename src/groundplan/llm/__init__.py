"""The only way to a model: what is asked, what may come back, what it cost."""
