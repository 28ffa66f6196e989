"""Tests of the judge of the conformance tests: a checker that has never failed is no evidence."""
