"""The tables of docs/security.md that say which rights each account has."""

import re

from install.rights import Right
from tests.docs.markdown import DOCS

TEXT = (DOCS / "security.md").read_text(encoding="utf-8")
SECTION = TEXT.partition("### Every right, and why")[2].partition("\n### ")[0]
ROW = re.compile(r"^\| ([a-z, ]+) \| (`.+`) \| (.+) \| (.+) \|$", re.MULTILINE)
TABLES = dict(re.findall(r"^`(tutti-\w+)`[^\n]*:\n\n((?:\|[^\n]*\n)+)", SECTION, re.MULTILINE))


def rights(table: str) -> set[Right]:
    """The rights that a table names."""
    found = set()
    for verbs, resources, where, why in ROW.findall(table):
        assert why.strip()
        namespace, name = _after("in", where), _after("named", where)
        assert namespace or name or where == "all", where
        for resource in re.findall(r"`([^`]+)`", resources):
            found |= {_right(verb, resource, namespace, name) for verb in verbs.split(", ")}
    return found


def _after(word: str, where: str) -> str:
    match = re.search(rf"\b{word} `([^`]+)`", where)
    return match[1] if match else ""


def _right(verb: str, resource: str, namespace: str, name: str) -> Right:
    """`podgroups.tutti.scheduler/status` is the subresource `podgroups/status` of the group `tutti.scheduler`."""
    kind, _, subresource = resource.partition("/")
    plural, _, group = kind.partition(".")
    return Right(verb, group, f"{plural}/{subresource}" if subresource else plural, namespace, name)
