"""Commands that decide as the scheduler does, away from it: they read, and write nothing to any cluster."""
