"""Tools of any MCP server: its tool list is added to the catalog, its results become facts."""
