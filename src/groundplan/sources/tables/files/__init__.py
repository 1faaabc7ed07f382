"""Loads files and frames into a DuckDB database."""
