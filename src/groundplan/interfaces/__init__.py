"""User interfaces: the command line."""
