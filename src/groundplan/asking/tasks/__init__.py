"""Tasks: something to be done with the tools of MCP servers."""
