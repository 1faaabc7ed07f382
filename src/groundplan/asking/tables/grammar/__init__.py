"""A grammar of questions about one table: senses of words, rules that compose them, one reading."""
