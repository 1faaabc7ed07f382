"""Commits and merge requests of a GitLab server, read through its REST API."""
