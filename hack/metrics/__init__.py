"""docs/metrics.md: what is served, from the code that serves it, and what to do about it."""
