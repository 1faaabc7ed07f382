"""SQL into readings and back."""
