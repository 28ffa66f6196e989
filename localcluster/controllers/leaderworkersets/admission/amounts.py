"""Amounts of a template in the one spelling that the API server keeps them in. Pure."""

from collections.abc import Sequence
from typing import Any

from api.errors import InvalidQuantity
from localcluster.apiserver.kinds.quantities import canonical


def canonical_amounts(holder: dict[str, Any], *fields: str, only: Sequence[str] | None = None) -> None:
    """Rewrites the amounts in these maps of `holder`, or `only` those of these names."""
    for field in fields:
        amounts = holder.get(field)
        if not isinstance(amounts, dict):
            continue
        for name in only or tuple(amounts):
            if name in amounts:
                amounts[name] = canonical_amount(str(amounts[name]))


def canonical_amount(text: str) -> str:
    """The canonical spelling; what is no amount stays as it is, for the validation to refuse."""
    try:
        return canonical(text)
    except InvalidQuantity:
        return text
