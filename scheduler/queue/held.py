"""Why an item is not running yet, in one reason and one sentence."""

import msgspec

_DIGITS = {ord(digit): None for digit in "0123456789"}


class Held(msgspec.Struct, frozen=True):
    """`reason` is one of the condition reasons of `api.constants`, `message` is for people."""

    reason: str
    message: str

    @property
    def gist(self) -> tuple[str, str]:
        """What must differ for people to be told again: counts alone do not count."""
        return (self.reason, self.message.translate(_DIGITS))
