"""Clusters on which Tutti is tried out while it runs: control planes, hollow nodes, Tutti's processes, what is done to them.

Tests (`tests/conformance`, `tests/faults`, `tests/e2e`), the soak and the benchmarks stand on these; nothing here knows a test.
`controlplane` is the surface, `real` and `embedded` are behind it, `tutti_process` is Tutti as a user starts it, `behind_proxy`
puts the fault proxy between the two, `disturbance` hurts processes, `jobs` and `lws` are what users write and ask.
"""
