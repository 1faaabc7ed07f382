"""A model's measure: questions about made-up tables, new for each seed, with truths in SQL."""
