"""A whole cluster with Tutti on it in one thread, in virtual time and seeded: the same seed, the same run."""
