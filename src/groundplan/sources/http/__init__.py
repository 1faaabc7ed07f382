"""Shared by sources behind HTTP: settings, a client with limits, and lists turned into tables."""
