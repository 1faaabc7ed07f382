"""A model chooses among sentences that are already verified."""
