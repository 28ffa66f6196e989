"""Tests of discovery, OpenAPI, tables and events of the embedded API server."""
