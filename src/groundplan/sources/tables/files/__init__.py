"""Files and frames become a DuckDB database."""
