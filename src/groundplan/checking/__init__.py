"""The gate: a linter for plans, and the only code that creates a `CheckedPlan`."""
