"""Measurements, printed as tables. They are no tests: nothing here passes or fails."""
