"""Verifies that the facts support every part of a text before it is shown."""
