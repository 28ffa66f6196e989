"""Match conditions: expressions that say whether a webhook or a policy is concerned at all.

One that is false decides, whatever the others say. Otherwise an error decides: for `Ignore` the request is none of the
configuration's business, for `Fail` it is refused.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from localcluster.apiserver.extension.cel.program import CompileError, EvaluationError, compile_expression

DECLARED: Final = frozenset({"object", "oldObject", "request", "namespaceObject", "authorizer"})


class ConditionError(Exception):
    """A condition has no value and the failure policy is Fail; `str()` names the expressions and their errors."""


def conditions_hold(
    conditions: Sequence[Mapping[str, str]],
    variables: Mapping[str, Any],
    *,
    failure_policy: str,
    declared: frozenset[str] = DECLARED,
) -> bool:
    """Whether all conditions are true.

    Raises:
        ConditionError: none is false, but one has no value, and the failure policy is Fail.
    """
    errors = []
    for condition in conditions:
        expression = condition.get("expression", "")
        try:
            if compile_expression(expression, declared).evaluate(variables) is not True:
                return False
        except (CompileError, EvaluationError) as error:
            errors.append(f"expression '{expression.strip()}' resulted in error: {error}")
    if errors and failure_policy == "Fail":
        unique = list(dict.fromkeys(errors))
        raise ConditionError(unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]")
    return not errors
