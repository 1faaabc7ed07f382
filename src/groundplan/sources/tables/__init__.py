"""Files, frames, DuckDB, Postgres and any other Ibis backend, as lazy tables."""
