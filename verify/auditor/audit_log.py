"""The API server's audit log as records: who wrote what, when, in the server's own order.

Imports nothing of the product. A record's `received` is when the server got the request, `completed` when it had
answered; A happened before B for certain when A was completed before B was received.
"""

import datetime
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Object = dict[str, Any]

JSON_PATCH = "jsonPatch"
"""Under this name a request that is a list of operations is kept, as an object like all others."""

_TAIL_BYTES = 65_536
_TIMEOUT = 504


@dataclass(frozen=True, slots=True)
class Record:
    """One answered request. `denied`: its author lacks the right.

    Times are seconds since the epoch; bodies are empty where only metadata is recorded. `message` is the server's word on a
    refusal and `annotations` is what it noted, such as which webhooks it asked; the embedded server notes neither.
    """

    user: str
    verb: str
    group: str
    resource: str
    namespace: str
    name: str
    code: int
    received: float
    completed: float
    request: Object
    response: Object
    agent: str = ""
    dry_run: bool = False
    denied: bool = False
    message: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        """Whether the server carried it out."""
        return 200 <= self.code < 300 and not self.dry_run and self.verb not in {"get", "list", "watch"}

    @property
    def is_unknown(self) -> bool:
        """Whether nobody was told if the server carried it out: who asked went away, or it took too long."""
        return self.code == _TIMEOUT and not self.dry_run

    @property
    def object_uid(self) -> str:
        """The UID of the object answered, empty when the answer was not recorded."""
        return str(self.response.get("metadata", {}).get("uid", ""))

    def __str__(self) -> str:
        where = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.user} {self.verb} {self.resource} {where} -> {self.code}"


class AuditLog:
    """Reads the log from a position on; the position is a number of bytes, so a test reads only what it caused."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def position(self) -> int:
        """The end of the last whole line: the server may be in the middle of the next one."""
        if not self._path.exists():
            return 0
        with self._path.open("rb") as log:
            end = log.seek(0, os.SEEK_END)
            while end:
                begin = log.seek(max(0, end - _TAIL_BYTES))
                line_end = log.read(end - begin).rfind(b"\n") + 1
                if line_end:
                    return begin + line_end
                end = begin
        return 0

    def since(self, position: int) -> list[Record]:
        """The records written after this position, in order of completion."""
        return self.read(position)[0]

    def read(self, position: int) -> tuple[list[Record], int]:
        """The records written after this position, in order of completion, and the position behind the last one."""
        with self._path.open("rb") as log:
            log.seek(position)
            written = log.read()
        whole = written[: written.rfind(b"\n") + 1]
        records = [parse(json.loads(line)) for line in whole.splitlines()]
        return sorted(records, key=lambda record: record.completed), position + len(whole)


def parse(entry: Object) -> Record:
    """An audit event as a record."""
    reference = entry.get("objectRef", {})
    resource = reference.get("resource", "")
    subresource = reference.get("subresource", "")
    request, response = entry.get("requestObject") or {}, entry.get("responseObject") or {}
    annotations = entry.get("annotations") or {}
    return Record(
        user=entry.get("user", {}).get("username", ""),
        verb=entry.get("verb", ""),
        group=reference.get("apiGroup", ""),
        resource=f"{resource}/{subresource}" if subresource else resource,
        namespace=reference.get("namespace", ""),
        name=reference.get("name", "") or str(response.get("metadata", {}).get("name", "")),
        code=int(entry.get("responseStatus", {}).get("code", 0)),
        received=seconds(entry["requestReceivedTimestamp"]),
        completed=seconds(entry["stageTimestamp"]),
        request={JSON_PATCH: request} if isinstance(request, list) else request,
        response=response,
        agent=entry.get("userAgent", ""),
        dry_run="dryRun=" in entry.get("requestURI", ""),
        denied=annotations.get("authorization.k8s.io/decision") == "forbid",
        message=entry.get("responseStatus", {}).get("message", ""),
        annotations=annotations,
    )


def seconds(rfc3339: str) -> float:
    """Seconds since the epoch."""
    return datetime.datetime.fromisoformat(rfc3339).timestamp()
