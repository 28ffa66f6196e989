"""Strategic merge patch: as a merge patch, but lists of things with a name of their own are merged thing by thing.

Pure. The directives are `$patch: delete|replace|merge`, `$deleteFromPrimitiveList/`, `$setElementOrder/` and
`$retainKeys`. Item order: items of the patch that are new come before those that are only there, as upstream; the others keep their
place, unless the order is set.
"""

from collections import deque
from typing import Any

from localcluster.apiserver import status
from localcluster.apiserver.patches.mergekeys import ENTRY_SET, merge_key

_DIRECTIVE = "$patch"
_RETAIN = "$retainKeys"
_ORDER = "$setElementOrder/"
_DELETE_FROM = "$deleteFromPrimitiveList/"


def strategic_merge(target: Any, patch: Any) -> Any:
    """The patched value; `target` is changed in place where it is an object.

    Raises:
        StatusError: a directive or an item of the patch makes no sense.
    """
    if not isinstance(patch, dict):
        return patch
    directive = patch.get(_DIRECTIVE)
    if directive == "replace":
        return _plain({key: value for key, value in patch.items() if key != _DIRECTIVE})
    if directive == "delete":
        return {}
    if directive not in {None, "merge"}:
        raise _refused(f"Unknown patch type found: {directive}")
    target = target if isinstance(target, dict) else {}
    _retain(target, patch)
    orders: dict[str, list[Any]] = {}
    before = {key: list(value) for key, value in target.items() if isinstance(value, list)}
    for key, value in patch.items():
        if key.startswith(_ORDER):
            orders[key[len(_ORDER) :]] = _directed(key, value)
        elif key.startswith(_DELETE_FROM):
            name = key[len(_DELETE_FROM) :]
            unwanted = _directed(key, value)
            if isinstance(target.get(name), list):
                target[name] = [each for each in target[name] if each not in unwanted]
        elif key not in {_DIRECTIVE, _RETAIN}:
            _merge_field(target, key, value)
    for name, order in orders.items():
        _reorder(target, name, order, before.get(name, []))
    return target


def _directed(key: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _refused(f"the value of {key} has to be a list")
    return value


def _retain(target: dict[str, Any], patch: dict[str, Any]) -> None:
    retained = patch.get(_RETAIN)
    if isinstance(retained, list):
        for key in [key for key in target if key not in retained]:
            del target[key]


def _merge_field(target: dict[str, Any], key: str, value: Any) -> None:
    if value is None:
        target.pop(key, None)
    elif isinstance(value, dict):
        target[key] = strategic_merge(target.get(key), value)
    elif isinstance(value, list):
        target[key] = _merge_list(key, target.get(key), value)
    else:
        target[key] = value


def _merge_list(name: str, present: Any, patch: list[Any]) -> list[Any]:
    key = merge_key(name, patch)
    directives = [each for each in patch if isinstance(each, dict) and each.get(_DIRECTIVE) == "replace"]
    if key is None or (directives and len(directives[0]) == 1):
        return [_plain(each) for each in patch if each not in directives]
    before = list(present) if isinstance(present, list) else []
    items = list(before)
    if key == ENTRY_SET:
        if any(isinstance(each, dict | list) for each in patch):
            raise _refused(f"{name} is a list of plain values, and the patch has others for it")
        items += [each for each in dict.fromkeys(patch) if each not in before]
    else:
        for each in patch:
            _merge_item(items, key, each)
    return _in_order(items, key, patch, before)


def _merge_item(items: list[Any], key: str, patch: Any) -> None:
    if not isinstance(patch, dict):
        raise _refused(f"cannot merge {type(patch).__name__} into a list of objects")
    if key not in patch:
        if patch.get(_DIRECTIVE) == "delete":
            items.clear()
            return
        text = f"map: {go_text(patch)} does not contain declared merge key: {key}"
        raise status.StatusError(500, "", text)
    where = next((n for n, item in enumerate(items) if isinstance(item, dict) and item.get(key) == patch[key]), None)
    if patch.get(_DIRECTIVE) == "delete":
        if where is not None:
            del items[where]
    elif where is None:
        items.append(_plain({name: value for name, value in patch.items() if name != _DIRECTIVE}))
    else:
        items[where] = strategic_merge(items[where], patch)


def _reorder(target: dict[str, Any], name: str, order: list[Any], before: list[Any]) -> None:
    items = target.get(name)
    if not isinstance(items, list):
        return
    key = merge_key(name, items)
    if key is not None:
        target[name] = _in_order(items, key, order, before)


def _in_order(items: list[Any], key: str, wanted: list[Any], before: list[Any]) -> list[Any]:
    """The items that are wanted in that order, and the others where they were before, merged by where all were before."""
    rank = {_identity(each, key): number for number, each in enumerate(wanted)}
    past = {_identity(each, key): number for number, each in enumerate(before)}
    named = deque(
        sorted((each for each in items if _identity(each, key) in rank), key=lambda item: rank[_identity(item, key)])
    )
    others = deque(each for each in items if _identity(each, key) not in rank)
    ordered: list[Any] = []
    while named and others:
        first, second = past.get(_identity(others[0], key)), past.get(_identity(named[0], key))
        keeps_place = first is not None and second is not None and first < second
        ordered.append(others.popleft() if keeps_place else named.popleft())
    return [*ordered, *others, *named]


def _identity(item: Any, key: str) -> Any:
    return _hashable(item.get(key) if isinstance(item, dict) else item)


def _hashable(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else repr(value)


def _plain(value: Any) -> Any:
    """A value of a patch where nothing is there to merge it into: without directives and without nulls."""
    if isinstance(value, dict):
        return strategic_merge({}, value)
    if isinstance(value, list):
        return [_plain(each) for each in value if not (isinstance(each, dict) and each.get(_DIRECTIVE) == "delete")]
    return value


def go_text(value: Any) -> str:
    """A value as Go prints it with %v."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{go_text(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(map(go_text, value)) + "]"
    return "<nil>" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _refused(text: str) -> status.StatusError:
    return status.bad_request(text)
