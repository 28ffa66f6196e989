"""Tests, one folder per concept."""
