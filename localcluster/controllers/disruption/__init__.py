"""Counts what PodDisruptionBudgets allow: a stand-in for the stock disruption controller."""
