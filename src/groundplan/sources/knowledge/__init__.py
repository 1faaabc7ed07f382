"""A knowledge base as a source: a graph of typed nodes, and documents as a second choice."""
