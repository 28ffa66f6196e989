"""A local, indexed copy of what the API server holds, and the queue of keys to look at."""
