"""Commits and merge requests of a GitLab server, read by its REST interface."""
