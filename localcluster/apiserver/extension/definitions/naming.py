"""Which of the names that a CRD asks for it gets: those that no other CRD of its group has. Pure."""

from collections.abc import Iterable
from typing import Any

from localcluster.apiserver.extension.definitions.document import is_true, with_condition

Object = dict[str, Any]


def accepted_status(crd: Object, others: Iterable[Object], now: str) -> Object:
    """The status of the CRD: names, and whether they are accepted and the kind established.

    Args:
        crd: as it is stored.
        others: the other CRDs of its group.
        now: RFC 3339.
    """
    taken = [(each.get("status") or {}).get("acceptedNames") or {} for each in others]
    words = {word for names in taken for word in _words(names)}
    kinds = {kind for names in taken for kind in (names.get("kind"), names.get("listKind")) if kind}
    asked, former = crd["spec"]["names"], (crd.get("status") or {}).get("acceptedNames") or {}
    got: Object = {"plural": former.get("plural") or "", "kind": former.get("kind") or ""}
    conflict = ""
    for field in ("plural", "singular", "shortNames", "kind", "listKind", "categories"):
        value = asked.get(field)
        if not value:
            continue
        clash = _clash(field, value, kinds if field in {"kind", "listKind"} else words)
        if clash:
            conflict = f'{field[0].upper()}{field[1:]}Conflict|"{clash}" is already in use'
        else:
            got[field] = value
    status = {**(crd.get("status") or {}), "acceptedNames": got}
    reason, _, message = (conflict or "NoConflicts|no conflicts found").partition("|")
    status = with_condition(status, _condition("NamesAccepted", not conflict, reason, message), now)
    if not conflict:
        established = _condition("Established", True, "InitialNamesAccepted", "the initial names have been accepted")
        return with_condition(status, established, now)
    if is_true(crd, "Established"):
        return status
    return with_condition(status, _condition("Established", False, "NotAccepted", "not all names are accepted"), now)


def _condition(kind: str, status: bool, reason: str, message: str) -> Object:
    return {"type": kind, "status": str(status), "reason": reason, "message": message}


def _words(names: Object) -> list[str]:
    return [each for each in (names.get("plural"), names.get("singular"), *(names.get("shortNames") or [])) if each]


def _clash(field: str, value: Any, taken: set[str]) -> str:
    if field == "categories":
        return ""
    asked = value if isinstance(value, list) else [value]
    return next((each for each in asked if each in taken), "")
