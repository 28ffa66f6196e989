"""What the printers of all kinds share: the column type and the small texts that appear in many columns.

Pure. A printer is a list of columns and a function that makes one row of cells; it always makes all cells, also those
that kubectl shows only with `-o wide` (their columns have priority 1), as a real server does.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from localcluster.apiserver.discovery.tables.age import age

Object = Mapping[str, Any]
Cell = str | int | float | bool | None
Row = Callable[[Object, float], list[Cell]]

NONE = "<none>"
UNSET = "<unset>"
WIDE = 1


@dataclass(frozen=True, slots=True)
class Column:
    """One column definition; `priority` 0 is always shown, 1 with `-o wide`."""

    name: str
    type: str = "string"
    format: str = ""
    priority: int = 0
    description: str = ""

    def definition(self) -> dict[str, Any]:
        """The column as meta.k8s.io/v1 writes it."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        }


@dataclass(frozen=True, slots=True)
class Printer:
    """How one kind is shown."""

    columns: Sequence[Column]
    cells: Row
    conditions: Callable[[Object], list[dict[str, str]]] | None = None


NAME = Column("Name", format="name", description="The name, unique within the namespace.")
AGE = Column("Age", description="The time since the object was created.")
CREATED_AT = Column("Created At", type="date", description="When the object was created, in UTC.")


def text(name: str, description: str = "", *, wide: bool = False) -> Column:
    """A column of strings."""
    return Column(name, priority=WIDE if wide else 0, description=description or f"The {name.lower()} of the object.")


def number(name: str, description: str = "") -> Column:
    """A column of whole numbers."""
    return Column(name, type="integer", description=description or f"How many are {name.lower()}.")


def boolean(name: str, description: str = "", *, wide: bool = False) -> Column:
    """A column of truth values."""
    return Column(
        name, type="boolean", priority=WIDE if wide else 0, description=description or f"Whether {name.lower()}."
    )


WORKLOAD_WIDE = (
    text("Containers", "The names of the containers.", wide=True),
    text("Images", "The images of the containers.", wide=True),
)
SELECTOR = text("Selector", "Which pods belong to the object.", wide=True)


def name_of(obj: Object) -> str:
    """The object's name."""
    return str(obj["metadata"].get("name", ""))


def age_of(obj: Object, now: float) -> str:
    """The time since the object was created."""
    return age(obj["metadata"].get("creationTimestamp"), now)


def part(obj: Object, *path: str) -> Any:
    """What lies at that path, an empty mapping for what is absent on the way or at its end."""
    found: Any = obj
    for key in path:
        found = found.get(key)
        if found is None:
            return {}
    return found


def containers(template: Object) -> list[Cell]:
    """The names and the images of a pod template's containers, comma-separated."""
    listed = part(template, "spec").get("containers") or []
    return [",".join(str(each.get(key, "")) for each in listed) for key in ("name", "image")]


def pairs(labels: Mapping[str, str] | None) -> str:
    """Labels as `a=b,c=d`, sorted; `<none>` for none."""
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE


def selector(value: Object | None) -> str:
    """A LabelSelector in the short form that `-l` reads; `<none>` when it selects by nothing."""
    if not value:
        return NONE
    terms = [(key, f"{key}={wanted}") for key, wanted in (value.get("matchLabels") or {}).items()]
    terms += [(each["key"], _expression(each)) for each in value.get("matchExpressions") or []]
    return ",".join(term for _, term in sorted(terms)) or NONE


def _expression(requirement: Object) -> str:
    key, values = requirement["key"], ",".join(sorted(requirement.get("values") or []))
    return {
        "In": f"{key} in ({values})",
        "NotIn": f"{key} notin ({values})",
        "Exists": str(key),
        "DoesNotExist": f"!{key}",
    }.get(requirement["operator"], "<error>")


def condition(obj: Object, kind: str) -> Object | None:
    """The status condition of that type, or None."""
    conditions: Iterable[Object] = part(obj, "status").get("conditions") or ()
    return next((each for each in conditions if each.get("type") == kind), None)


def condition_is_true(obj: Object, kind: str) -> bool:
    """Whether the status condition of that type is there and true."""
    found = condition(obj, kind)
    return found is not None and found.get("status") == "True"
