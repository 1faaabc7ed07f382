"""Sources of facts: one folder for each, all behind the same plug-in interface."""
