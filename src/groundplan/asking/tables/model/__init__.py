"""Reads questions about tables with a model: what it sees and replies, what contradicts that, what is accepted."""
