"""Conformance: Tutti against a real Kubernetes control plane, seen from outside only.

Nothing here imports the product: the tests talk to the API server, start `tutti` as a user would, and read the
API server's audit log. They stand on the clusters of `verify.clusters`; the hollow nodes of `localcluster` are the one tool
that is shared with users.
"""
