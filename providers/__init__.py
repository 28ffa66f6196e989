"""One module per gang scheduler: what its pods must carry and which group objects it needs. Pure."""
