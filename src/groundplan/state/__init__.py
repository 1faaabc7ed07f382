"""What outlives a process: threads, plans, effects and runs, in SQLite files."""
