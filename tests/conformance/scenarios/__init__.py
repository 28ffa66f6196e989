"""Upstream's acceptance scenarios, on whatever cluster the conformance tests run against."""
