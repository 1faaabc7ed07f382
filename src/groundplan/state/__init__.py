"""What outlives a process: plans and effects, beside the checkpoints of threads and runs, in one SQLite file."""
