"""Metrics, alerts and the dashboard: what is named is served."""
