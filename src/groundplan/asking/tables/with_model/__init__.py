"""Reading questions about tables with a model: it proposes, code judges."""
