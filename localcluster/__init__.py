"""A small cluster on this machine, for demo and tests: stand-ins that are ordinary clients of an API server."""
