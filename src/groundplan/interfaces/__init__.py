"""The doors: the command line now, HTTP, MCP and the browser later."""
