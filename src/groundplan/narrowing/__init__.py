"""Which tools may serve a reading: queries, lexical and vector search, their fusion, and the cap."""
