"""The manifests of `config/`."""
