"""Structural schemas of custom resources: what a CRD says about the fields of its objects. Pure functions over values."""
