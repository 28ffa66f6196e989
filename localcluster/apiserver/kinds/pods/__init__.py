"""Pods, and pod templates inside other kinds."""
