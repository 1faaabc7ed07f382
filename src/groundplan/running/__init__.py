"""A checked plan on LangGraph: by dependency, with retries, deadlines, checkpoints and resume."""
