"""The service: stores, runs, HTTP, several processes."""
