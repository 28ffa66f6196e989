"""Tells the claims how binds end."""

from scheduler.binding.binder import Bind, BindResults
from scheduler.binding.claim_binding import ClaimBinding


class ResultsWithClaims:
    """Tells the claims how binds end, besides whoever else hears of it (`BindResults`)."""

    def __init__(self, results: BindResults, claims: ClaimBinding) -> None:
        self._results = results
        self._claims = claims

    def obstacle(self, bind: Bind) -> str | None:
        """As the one it stands before."""
        return self._results.obstacle(bind)

    def bound(self, bind: Bind) -> None:
        """The server has the pod on the node."""
        self._claims.bind_ended(bind.uid, is_bound=True)
        self._results.bound(bind)

    def failed(self, bind: Bind, reason: str) -> None:
        """The pod is not on the node."""
        self._claims.bind_ended(bind.uid, is_bound=False)
        self._results.failed(bind, reason)

    def forbidden(self, bind: Bind, reason: str, message: str) -> None:
        """The server forbids the bind."""
        self._claims.bind_ended(bind.uid, is_bound=False)
        self._results.forbidden(bind, reason, message)
