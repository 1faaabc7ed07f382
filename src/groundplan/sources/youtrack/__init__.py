"""Issues of a YouTrack server, read by its REST interface."""
