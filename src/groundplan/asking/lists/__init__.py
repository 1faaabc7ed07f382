"""Questions about the lists of trackers."""
