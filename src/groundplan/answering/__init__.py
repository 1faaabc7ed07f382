"""Facts to something a person can read, see and check."""
