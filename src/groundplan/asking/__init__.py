"""Readers and planners, with one package per kind of question."""
