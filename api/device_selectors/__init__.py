"""Selectors of devices (CEL): Kubernetes' environment made of the library's.

The scheduler asks them about devices, the embedded API server refuses those that cannot be compiled.
"""
