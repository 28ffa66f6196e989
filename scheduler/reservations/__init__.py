"""Room that is kept: for groups that have waited too long, and for pods that will be created later."""
