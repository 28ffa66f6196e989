"""Placement cases that were put to the stock kube-scheduler, and what it answered: one table for the core and for real clusters."""
