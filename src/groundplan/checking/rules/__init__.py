"""The gate's rules, one module for each family."""
