"""The pages that are made from code: requirements, tools, contracts, schemas and the gate's rules."""
