"""Suites of questions with known answers."""
