"""Typed views of Kubernetes objects, and what they mean as gangs.

Everything here is pure: no input or output, no clock, no randomness. Every other package may import it; it imports none
of them.
"""
