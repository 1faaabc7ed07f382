"""The strategy `direct`: one typed query."""
