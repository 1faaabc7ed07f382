"""Decides how a variant is rolled out: who gets it, when it stops, and whether it may go on. No input or output."""
