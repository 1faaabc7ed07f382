"""What was asked: a question held against a source's schema becomes typed requirements with evidence."""
