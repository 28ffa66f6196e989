"""OpenAPI v3: what `kubectl explain` reads, and what tells kubectl that the server validates fields itself."""
