"""Calls to language models: prompts, schemas, replies and token usage. Nothing else talks to a model."""
