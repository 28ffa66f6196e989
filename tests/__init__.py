"""Tests read as specifications: a folder a concept, a sentence a test."""

import pytest

# What helpers of live clusters assert says why, as in the tests themselves.
pytest.register_assert_rewrite("tests.conformance", "tests.e2e", "tests.faults")
