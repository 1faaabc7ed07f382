"""Engines: compile, approve, run, cancel."""
