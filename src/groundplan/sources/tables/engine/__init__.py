"""Engines compile, approve, run and cancel queries."""
