"""Exchanges the code of functions in this process, wherever they are held: as methods, properties, callbacks, in caches."""

import functools
import gc
from collections.abc import Mapping
from pathlib import Path
from types import CodeType, FunctionType
from typing import Final

from verify.mutation.mutants import CodeKey

_CACHED: Final = type(functools.cache(len))


def exchange(path: Path, codes: Mapping[CodeKey, CodeType]) -> int:
    """Gives every function of this file the code that it has in `codes`; how many functions changed.

    Generators and coroutines that run already go on as they were. Answers that were remembered (`functools.cache`) are forgotten.
    """
    gc.unfreeze()
    changed = 0
    for found in gc.get_objects():
        if isinstance(found, FunctionType) and found.__code__.co_filename == str(path):
            code = codes.get((found.__code__.co_qualname, found.__code__.co_firstlineno))
            if code is not None and len(code.co_freevars) == len(found.__code__.co_freevars):
                found.__code__ = code
                changed += 1
        elif isinstance(found, _CACHED):
            found.cache_clear()
    return changed
