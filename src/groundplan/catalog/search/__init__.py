"""Which tools may serve a reading: lexical and vector search, their fusion, and the shortlist."""
