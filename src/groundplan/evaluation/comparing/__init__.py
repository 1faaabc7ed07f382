"""Strategies and models compared on the same questions."""
