"""Period phrases in English and Russian as exact half-open intervals."""
