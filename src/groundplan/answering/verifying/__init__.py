"""A text is shown only if the facts carry all of it."""
