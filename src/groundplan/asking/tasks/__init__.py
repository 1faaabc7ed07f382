"""Tasks: things to do with the tools of MCP servers."""
