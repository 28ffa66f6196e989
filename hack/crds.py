"""`python -m hack.crds`: writes config/crd from api/crds. A test fails while the files are not what this writes."""

from pathlib import Path
from typing import Any, Final

import yaml

from api.crds.definitions import definitions

FOLDER: Final = Path(__file__).resolve().parents[1] / "config" / "crd"
HEADER: Final = "# Written by `make crds` from api/crds, which is where to change it.\n"
WIDTH: Final = 120


class _Dumper(yaml.SafeDumper):
    """Lists below their key are indented, and no anchors: the same value may stand at two places."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 (overrides)
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 (overrides)
        return True


def rendered() -> dict[str, str]:
    """What each file of config/crd has to hold, by file name."""
    return {
        f"{plural}.yaml": HEADER + yaml.dump(each, Dumper=_Dumper, sort_keys=False, width=WIDTH, allow_unicode=True)
        for plural, each in definitions().items()
    }


def main() -> None:
    """Writes the files."""
    for name, text in rendered().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
