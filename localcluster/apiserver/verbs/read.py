"""Reading one object, or a list of them at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from localcluster.apiserver import status
from localcluster.apiserver.core import Core
from localcluster.apiserver.fielderrors import FieldError, forbidden_field, unsupported
from localcluster.apiserver.kinds.kind import KindInfo, Object
from localcluster.apiserver.selectors import Predicate, exact_name, field_predicate, label_predicate
from localcluster.apiserver.store.memory import Stored

_LIST_OPTIONS = ("meta.k8s.io", "ListOptions")


@dataclass(frozen=True, slots=True)
class Listing:
    """A list, or a page of one; how much is left of a selection is not told."""

    kind: KindInfo
    records: list[Stored]
    version: int
    rest: int = 0
    token: str = ""
    is_selection: bool = False

    def metadata(self) -> Object:
        """`metadata` of the list."""
        metadata: Object = {"resourceVersion": str(self.version)}
        if self.token:
            metadata["continue"] = self.token
        if self.token and not self.is_selection:
            metadata["remainingItemCount"] = self.rest
        if self.kind.definition is not None:
            metadata.setdefault("continue", "")
        return metadata

    def encoded(self) -> bytes:
        """The list as JSON."""
        head = orjson.dumps(
            {"kind": self.kind.kind_of_list, "apiVersion": self.kind.api_version, "metadata": self.metadata()}
        )
        return b'%s,"items":[%s]}' % (head[:-1], b",".join(self._items()))

    def _items(self) -> list[bytes]:
        """The objects as JSON; built-in ones do not repeat what the list says of their kind, as on a real server."""
        encoded = [each.encoded for each in served(self.kind, self.records)]
        if self.kind.definition is not None:
            return encoded
        said = orjson.dumps({"kind": self.kind.kind, "apiVersion": self.kind.api_version})
        return [b"{" + each[len(said) :] for each in encoded]

    def objects(self) -> list[Object]:
        """The objects in the form they are served in."""
        return [each.obj for each in served(self.kind, self.records)]


def served(kind: KindInfo, records: list[Stored]) -> list[Stored]:
    """Records in the form in which the kind is served."""
    if kind.from_storage is None:
        return records
    return [Stored(kind.served(each.obj), each.version) for each in records]


def get(core: Core, kind: KindInfo, namespace: str, name: str) -> Stored:
    """The object.

    Raises:
        StatusError: there is none.
    """
    found = core.store.get(kind.resource, namespace, name)
    if found is None:
        raise status.not_found(kind, name)
    return served(kind, [found])[0]


def list_objects(core: Core, kind: KindInfo, namespace: str, query: Mapping[str, str]) -> Listing:
    """The objects that the query selects, now or at the version that a continue token stands for.

    Raises:
        StatusError: the query makes no sense, or asks for a version that is not there.
    """
    limit = max(0, whole_number(query.get("limit", "")))
    fits = predicate(kind, query)
    token = query.get("continue", "")
    if token:
        if query.get("resourceVersion", "") not in {"", "0"}:
            raise status.bad_request("specifying resource version is not allowed when using continue")
        page = core.snapshots.following(token, limit)
        return Listing(kind, page.records, page.version, page.rest, page.token, fits is not None)
    check_version(core, query)
    records = _candidates(core, kind, namespace, query.get("fieldSelector", ""))
    if fits is not None:
        records = [each for each in records if fits(each.obj)]
    page = core.snapshots.first(records, core.store.version, limit)
    return Listing(kind, page.records, page.version, page.rest, page.token, fits is not None)


def _candidates(core: Core, kind: KindInfo, namespace: str, field_selector: str) -> list[Stored]:
    name = exact_name(field_selector) if field_selector else ""
    if name and (namespace or not kind.namespaced):
        found = core.store.get(kind.resource, namespace, name)
        return [found] if found else []
    return core.store.list(kind.resource, namespace)


def check_version(core: Core, query: Mapping[str, str]) -> int:
    """The resourceVersion that a list asks for, 0 when it takes any.

    Raises:
        StatusError: it is none, lies in the future, or is to be matched exactly and is past.
    """
    asked, match = query.get("resourceVersion", ""), query.get("resourceVersionMatch", "")
    if match:
        _check_match(asked, match)
    try:
        version = int(asked or 0)
    except ValueError:
        text = f'resourceVersion: Invalid value: "{asked}": strconv.ParseUint: parsing "{asked}": invalid syntax'
        raise status.bad_request(f"invalid resource version: {text}") from None
    if version > core.store.version:
        raise status.too_large_version(version, core.store.version)
    if match == "Exact" and version != core.store.version:
        raise status.expired("The resourceVersion for the provided list is too old.")
    return version


def _check_match(asked: str, match: str) -> None:
    errors: list[FieldError] = []
    if not asked:
        text = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        errors.append(forbidden_field("resourceVersionMatch", text))
    if match not in {"Exact", "NotOlderThan"}:
        errors.append(unsupported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""]))
    elif match == "Exact" and asked == "0":
        text = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        errors.append(forbidden_field("resourceVersionMatch", text))
    if errors:
        raise status.invalid(_options_kind(), "", errors)


def _options_kind() -> KindInfo:
    group, kind = _LIST_OPTIONS
    return KindInfo(group, "v1", kind, "", strategy=None)  # type: ignore[arg-type]


def whole_number(text: str) -> int:
    """A number of a query, 0 when there is none.

    Raises:
        StatusError: it is no number.
    """
    try:
        return int(text or 0)
    except ValueError:
        raise status.bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None


def predicate(kind: KindInfo, query: Mapping[str, str]) -> Predicate | None:
    """What the query selects, over stored objects; None when it selects everything."""
    labels = label_predicate(query.get("labelSelector", ""))
    fields = field_predicate(kind, query.get("fieldSelector", ""))
    if fields is not None and kind.from_storage is not None:
        inner, form = fields, kind.from_storage
        fields = lambda obj: inner(form(obj))  # noqa: E731
    if labels is None or fields is None:
        return labels or fields
    return lambda obj: labels(obj) and fields(obj)
