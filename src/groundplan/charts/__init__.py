"""Charts: Vega-Lite specifications, and how they are drawn."""
