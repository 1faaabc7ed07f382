"""Questions to a knowledge base."""
