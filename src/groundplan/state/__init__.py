"""State kept between processes in one SQLite file: plans, effects, and the checkpoints of threads and runs."""
