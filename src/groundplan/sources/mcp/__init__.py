"""Tools of any MCP server: its list becomes a part of the catalog, its results become facts."""
