"""The Jobs as reconcile sees them."""

from api.job import Job
from controllers.jobs.slim import slim
from controllers.owner_store import OwnerStore


class JobStore(OwnerStore[Job]):
    """All Jobs of the cluster by key."""

    def put(self, item: Job) -> None:
        """Keep this version unless a later one is known."""
        super().put(slim(item))
