"""Propose, check, send back: the one loop in which a model's reply becomes something that code accepts."""
