"""A reading changed by a person, part by part, and what each part could be instead."""
