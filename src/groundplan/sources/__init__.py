"""Where facts come from: one folder per source, all behind the same plug-in interface."""
