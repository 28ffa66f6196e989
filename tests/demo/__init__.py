"""Tests of `make demo`."""
