"""The schema of our own CRDs as values; `hack/crds.py` writes them to `config/crd`, and a test tells when it must run again."""
