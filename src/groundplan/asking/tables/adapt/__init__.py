"""The strategy `adapt`: a model edits a plan."""
