"""What passes between the stages: frozen, closed, and the same for every strategy and source."""
