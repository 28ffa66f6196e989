"""Compiles a device selector, and says in Kubernetes' words why one cannot be compiled or has no answer."""

import re
from functools import lru_cache
from typing import Any, Final

from cel_expr_python import cel

from api.device_selectors.functions import extension
from api.device_selectors.rewrite import DEVICE, SelectorInvalid, rewrite

_LIBRARIES: Final = (
    "bindings",
    "encoders",
    "lists",
    "math",
    "optional",
    "regex",
    "sets",
    "strings",
    "two-var-comprehensions",
)
_TOO_MUCH: Final = "Iteration budget exceeded"
_NO_KEY: Final = re.compile(r'Key not found in map : "?(?P<key>.*?)"?')
_NOT_ITERABLE: Final = "<iter_range>"
_STATUS: Final = re.compile(r"(?P<code>[A-Z_]+): (?P<text>.*?)(?: \[(?P=code)\])?", re.DOTALL)
_ADVICE: Final = (
    ". consider using CEL optional chaining (.? followed by orValue())"
    " or guarding the check with has() for optional fields"
)


def compiled(source: str) -> Any:
    """The library's program for a selector; it is given the variable `device`.

    Raises:
        SelectorInvalid: it cannot be compiled, or its result is known not to be a truth value.
    """
    try:
        program = _environment().compile(rewrite(source))
    except RuntimeError as error:
        raise SelectorInvalid(f"compilation failed: {told(str(error))}") from error
    result = str(program.return_type())
    if result not in {"BOOL", "DYN"}:
        shown = result.lower().replace("<", "(").replace(">", ")")
        raise SelectorInvalid(f"must evaluate to bool or the unknown type, not {shown}")
    return program


@lru_cache(maxsize=1)
def _environment() -> Any:
    config = cel.NewEnvConfigFromYaml(
        "name: devices\nextensions:\n" + "".join(f"- name: {one}\n" for one in _LIBRARIES)
    )
    return cel.NewEnv(config=config, variables={DEVICE: cel.Type.DYN}, extensions=[extension()])


def told(message: str) -> str:
    """What the library says, in the words of Kubernetes where these differ."""
    match = _STATUS.fullmatch(message)
    text = match["text"] if match else message
    if _TOO_MUCH in text:
        return "operation cancelled: actual cost limit exceeded"
    if _NOT_ITERABLE in text:
        return "no such overload: expected iterable type"
    missing = _NO_KEY.fullmatch(text)
    return f"no such key: {missing['key']}{_ADVICE}" if missing else text
