"""The audit trail of agents."""
