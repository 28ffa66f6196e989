"""What extends the API server: CustomResourceDefinitions with their rules, and admission by webhooks and policies."""

from localcluster.apiserver.extension.install import install

__all__ = ["install"]
