"""One file for `kubectl apply --filename`: what `kubectl apply -k config/default` installs."""

from typing import Final

import yaml

from hack.dist.project import version
from install.manifests import load

_WIDTH: Final = 1_000_000


def install_yaml() -> str:
    """All objects, in the order in which they can be made."""
    bodies = [each.body for each in load("default")]
    # A namespace comes before what is in it.
    bodies.sort(key=lambda body: body["kind"] != "Namespace")
    documents = [yaml.dump(body, Dumper=_Dumper, sort_keys=False, width=_WIDTH, allow_unicode=True) for body in bodies]
    return f"# Tutti {version()}: what config/default installs.\n---\n" + "---\n".join(documents)


class _Dumper(yaml.SafeDumper):
    """Without anchors: the same value may stand at two places."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 (overrides)
        return True
