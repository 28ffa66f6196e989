"""Putting Tutti on a cluster and taking it off again."""
