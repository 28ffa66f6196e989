"""Tests of the faults that promises are checked under."""
