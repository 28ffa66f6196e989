"""Tests of the stand-in controllers."""
