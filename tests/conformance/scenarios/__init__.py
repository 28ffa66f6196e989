"""Upstream's acceptance scenarios, by number, on whatever cluster the conformance tests run against."""
