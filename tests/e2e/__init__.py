"""Tutti as people install it: the image, `config/default` and real containers on the node of `hack/node`. `make e2e` runs it."""
