"""Requests to the API server: credentials, verbs, retries, unknown outcomes, events."""
