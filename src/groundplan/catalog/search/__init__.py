"""Finds the tools that may serve a reading: lexical and vector search, their fusion, and the shortlist."""
