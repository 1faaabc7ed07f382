"""What happened: the audit trail."""
