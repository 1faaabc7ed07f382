"""Issues of a YouTrack server, read through its REST API."""
