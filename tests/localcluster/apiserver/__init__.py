"""The API server of the embedded cluster."""
