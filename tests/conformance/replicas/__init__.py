"""Tutti as its Deployments run it: several replicas of each process, each under its service account, admission behind a Service."""
