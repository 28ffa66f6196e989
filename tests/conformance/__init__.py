"""Conformance: Tutti against a real Kubernetes control plane, seen from outside only.

Nothing here imports the product: the tests talk to the API server, start `tutti` as a user would, and read the
API server's audit log. The hollow nodes of `localcluster` are the one tool that is shared.
"""
