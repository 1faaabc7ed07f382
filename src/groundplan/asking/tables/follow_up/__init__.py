"""A follow-up edits the question before it."""
