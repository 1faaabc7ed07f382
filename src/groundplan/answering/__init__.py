"""Turns facts into an answer: text, tables and charts."""
