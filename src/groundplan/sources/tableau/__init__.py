"""A published data source of Tableau, asked by its VizQL Data Service."""
