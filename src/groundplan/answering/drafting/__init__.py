"""A model writes the text with slots; code proves every word of it and fills the slots."""
