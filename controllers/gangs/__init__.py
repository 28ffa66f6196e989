"""What Jobs and LeaderWorkerSets have in common: passes, creation of what must exist once, steps, groups of other schedulers."""
