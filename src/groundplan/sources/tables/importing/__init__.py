"""Imports the semantic models of other tools: dbt, Cube and Lightdash become an Ossie model."""
