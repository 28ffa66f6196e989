"""A stand-in for the stock scheduler: it places ordinary pods one by one, so that a cluster of its own is complete."""
