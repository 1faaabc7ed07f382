"""One package for each kind of question: its reader and its planners."""
