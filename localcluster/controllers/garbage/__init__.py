"""Garbage collection by owner references: a graph of owners, and who deletes what because of it."""
