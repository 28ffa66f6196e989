"""Putting Tutti on a cluster and taking it off again, from the manifests in `config/` and from nothing else."""
