"""`why` for people who may see one namespace and not the whole cluster: an HTTPS endpoint of the scheduler."""
