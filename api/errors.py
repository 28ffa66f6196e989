"""The errors a person may meet, as one tree.

TuttiError
├── ConfigurationError    the process cannot start as asked: one line on stderr, exit code 2
├── InvalidObject         an object a user wrote breaks a rule: admission message, condition or event
│   ├── InvalidName       no legal Kubernetes name
│   ├── InvalidQuantity   no legal resource quantity
│   └── InvalidGangSettings    an annotation or field that steers gang scheduling has an unusable value
└── KubeError             talking to the API server failed (`kube.client.errors` draws that branch)
"""


class TuttiError(Exception):
    """Base of everything Tutti raises on purpose; `str()` of it is one line a person can act on."""


class ConfigurationError(TuttiError):
    """The process cannot start as it was asked to: a missing file, an unknown setting, an unreachable server."""

    exit_code = 2


class InvalidObject(TuttiError):
    """A user's object breaks a rule. `field` is the path of the offending field, `` when there is no single one."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field


class InvalidName(InvalidObject):
    """A string is no legal Kubernetes name."""


class InvalidQuantity(InvalidObject):
    """A string is no legal, or no sanely sized, resource quantity."""


class InvalidGangSettings(InvalidObject):
    """An annotation or field that steers gang scheduling has an unusable value."""
