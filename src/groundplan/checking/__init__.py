"""The gate: a linter for plans, and the only maker of a CheckedPlan."""
