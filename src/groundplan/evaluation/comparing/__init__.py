"""Compares strategies and models on the same questions."""
