"""The audit trail of agents; metrics, traces and logs of a service."""
