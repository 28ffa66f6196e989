"""Tests of the local cluster."""
