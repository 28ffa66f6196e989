"""The Helm chart, made from `config/`: the same objects, with values where kustomize has components and patches."""
