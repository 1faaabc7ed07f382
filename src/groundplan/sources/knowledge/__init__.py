"""A knowledge base as a source: a graph of typed nodes first, documents behind it."""
