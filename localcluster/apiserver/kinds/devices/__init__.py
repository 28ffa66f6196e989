"""Devices (resource.k8s.io/v1): the rules of classes, slices, claims, templates and taint rules."""
