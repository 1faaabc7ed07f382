"""The data types that stages exchange: frozen, closed, and the same for every strategy and source."""
