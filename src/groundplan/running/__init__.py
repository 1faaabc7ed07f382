"""Runs checked plans on LangGraph, in dependency order, with retries, deadlines, checkpoints and resume."""
