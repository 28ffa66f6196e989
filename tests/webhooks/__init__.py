"""Tests of the admission server."""
