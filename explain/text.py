"""An answer as one screen of text."""

from collections.abc import Iterator, Sequence
from typing import Final

from explain.answer import Answer, ClassCount, GroupAnswer, GroupState, Obstacle, Verdict
from explain.node_classes import count_of_pods
from explain.reasons import Reason

_WIDTH: Final = 10
_MOST_GROUPS: Final = 12
"""Groups of a tree that are told one by one."""


def screen(answer: Answer) -> str:
    """The answer for people, without a line break at its end."""
    return "\n".join(_lines(answer))


def _lines(answer: Answer) -> Iterator[str]:
    yield f"{_title(answer)} in {answer.item.namespace}: {_headline(answer)}"
    if answer.message:
        yield _row("because" if answer.verdict is not Verdict.STARTED else "", answer.message)
    if answer.verdict is Verdict.STARTED:
        return
    if answer.groups:
        yield _row("groups", _groups(answer))
        yield from (_row("", f"  {line}") for line in _group_lines(answer.groups, answer.item.name))
    yield _row("pods", _pods(answer))
    if answer.turn.position:
        yield _row("turn", f"{answer.turn.position} of {answer.turn.waiting} that wait")
    heads = ("blocks", "and") if answer.together else ("blocks", "or")
    for number, one in enumerate(answer.blocking):
        yield _row(heads[0] if not number else heads[1], one.message)
        yield from (_row("", _count(one, known)) for known in one.nodes)
    if answer.preemption is not None and not answer.preemption.victims:
        yield _row("evicts", answer.preemption.message)
    yield _row("hint", answer.hint.message if answer.hint is not None else _without_hint(answer))


def _headline(answer: Answer) -> str:
    waiting = f", for {duration(answer.waiting_seconds)}" if answer.waiting_seconds else ""
    match answer.verdict:
        case Verdict.STARTED:
            return "has started"
        case Verdict.STARTS:
            return f"starts ({answer.reason}{waiting})"
        case Verdict.NEVER:
            return f"cannot start on this cluster, however empty ({answer.reason}{waiting})"
        case _:
            return f"waits ({answer.reason}{waiting})"


def _title(answer: Answer) -> str:
    """Its owner; of a JobSet, which may have several groups, the group too."""
    item = answer.item
    is_part = item.kind == "group" and item.owner.startswith("jobset/")
    return f"{item.owner} (podgroup/{item.name})" if is_part else item.owner


def _groups(answer: Answer) -> str:
    """How many of them stand how, the first word about what they must be together."""
    need = f"{answer.min_group_count} must start together" if answer.min_group_count else ""
    counts = [
        (sum(one.state is state for one in answer.groups), text)
        for state, text in (
            (GroupState.STARTED, "started"),
            (GroupState.FITS, "with room"),
            (GroupState.WAITS, "without room"),
            (GroupState.INCOMPLETE, "not complete"),
        )
    ]
    return ", ".join(filter(None, [need, *(f"{count} {text}" for count, text in counts if count)]))


def _group_lines(groups: Sequence[GroupAnswer], root: str) -> Iterator[str]:
    """Those that stand in the way first."""
    worst = (GroupState.WAITS, GroupState.INCOMPLETE, GroupState.FITS, GroupState.STARTED)
    shown = sorted(groups, key=lambda one: worst.index(one.state))
    for one in shown[:_MOST_GROUPS]:
        inside = f" in {one.parent}" if one.parent != root else ""
        pods = f"podgroup/{one.name}{inside} ({one.scheduled + one.pending} of {one.need} pods there)"
        yield f"{pods}: {one.message or ('has started' if one.state is GroupState.STARTED else 'there is room for it')}"
    if len(shown) > _MOST_GROUPS:
        yield f"and {len(shown) - _MOST_GROUPS} more"


def _pods(answer: Answer) -> str:
    members = answer.members
    parts = [f"needs {members.need} together", f"{members.pending} wait", f"{members.scheduled} have a node"]
    if members.missing:
        parts.append(f"{members.missing} do not exist")
    if members.gated:
        is_tree = answer.item.kind == "composite"
        parts.append(f"{members.gated} {'in groups that may not start yet' if is_tree else 'gated'}")
    if members.pending and answer.item.kind != "composite":
        parts.append(f"{members.placeable} could be placed now")
    return ", ".join(parts)


def _count(one: Obstacle, known: ClassCount) -> str:
    if one.reason is Reason.DEVICES:
        few = ", too few even when nobody has any" if known.too_small else ""
        return (
            f"  {known.refused} of {known.count} nodes: {known.nodes} (free for {count_of_pods(known.room_for)}{few})"
        )
    if not one.resource:
        return f"  {known.refused} of {known.count} nodes: {known.nodes}"
    small = f", {known.too_small} too small even when empty" if known.too_small else ""
    return (
        f"  {known.count} nodes have room for {known.room_for} pods: {known.nodes} "
        f"(at most {known.most_free} free on one{small})"
    )


def _without_hint(answer: Answer) -> str:
    return "none is needed" if answer.verdict is Verdict.STARTS else "none: no single change was found that is enough"


def _row(head: str, text: str) -> str:
    return f"  {head:<{_WIDTH}}{text}"


def duration(seconds: float) -> str:
    """A time as people say it, in its two largest units."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    first = next((index for index, (number, _) in enumerate(parts) if number), 3)
    return " ".join(f"{number} {unit}" for number, unit in parts[first : first + 2] if number) or "0 s"
