"""The API server of the embedded cluster: Kubernetes' REST behaviour over objects in memory."""
