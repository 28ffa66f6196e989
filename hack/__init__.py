"""Tools for people who work on Tutti: benchmarks, the conformance run, a real control plane."""
