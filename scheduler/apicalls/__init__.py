"""Writes to the API server: their order (`dispatcher`), and conditions; the lease is asked for just before each is sent."""
