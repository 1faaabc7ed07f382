"""What sources behind HTTP share: settings, a client within limits, and lists that become tables."""
