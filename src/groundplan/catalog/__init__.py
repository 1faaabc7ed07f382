"""Tools, capabilities and the map between requirements and capabilities: YAML in, Catalog out."""
