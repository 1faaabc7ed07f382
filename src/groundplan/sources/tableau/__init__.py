"""A published Tableau data source, queried through the VizQL Data Service."""
