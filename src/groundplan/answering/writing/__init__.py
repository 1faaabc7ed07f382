"""Writes sentences from facts, with a citation for each value."""
