"""Writes to the API server: the lanes in which they go out, and conditions; the lease is asked for just before each is sent."""
