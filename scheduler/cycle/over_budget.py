"""What people are told when finding a place for their pods would take longer than one decision may.

Who reads it wrote the pods, so it says what makes a decision long and how much of that there is.
"""

from scheduler.state.members import Members


def over_budget(members: Members) -> str:
    """Why such an item waits, and what would help."""
    shapes = list(members.pending)
    rules = {shape.rules: None for shape in shapes}
    terms = sum(len(one.bonds.ties) if one.bonds else 0 for one in rules) + sum(len(one.spreads) for one in rules)
    requirements = sum(one.requirements for one in rules)
    return (
        "finding a place would take longer than one decision may, so it is tried only every few minutes: "
        f"{_count(members.pending_count, 'pod')} of {_count(len(shapes), 'kind')} "
        f"with {_count(terms, 'pod affinity or spread term')} and {_count(requirements, 'node requirement')}; "
        "fewer pods, fewer kinds of pods or fewer terms would help"
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
