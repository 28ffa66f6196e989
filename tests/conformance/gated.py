"""Control planes with more feature gates than the session's: started for the modules that need them."""

from pathlib import Path

from verify.clusters.real import GATES, RealControlPlane


class GatedControlPlane(RealControlPlane):
    """A control plane with the built-in group API and further gates on in all servers."""

    def __init__(self, *gates: str, assets: Path, stock_scheduler: bool = True) -> None:
        self._more = ",".join([GATES, *(f"{gate}=true" for gate in gates)])
        super().__init__(group_api="built-in", assets=assets, stock_scheduler=stock_scheduler)

    def _gates(self) -> list[str]:
        return [self._more]

    def _apiserver_flags(self, port: int, etcd: int) -> list[str]:
        return [self._more if flag == GATES else flag for flag in super()._apiserver_flags(port, etcd)]
