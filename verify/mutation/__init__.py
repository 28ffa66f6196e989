"""Random mutation of the scheduler's pure modules: small changes drawn from a seed, and whether a test notices each of them.

Nothing is written: the tests are collected and run once, and every mutant is a fork of that process in which the code of one
function is exchanged. So a mutant costs as much as the tests that reach its line, of which the fastest come first.
"""
