"""The Jobs as reconcile sees them."""

from api.job import Job
from controllers.owner_store import OwnerStore


class JobStore(OwnerStore[Job]):
    """All Jobs of the cluster by key."""
