"""Links between documents lead somewhere, and the site can be built of them."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from tests.docs.markdown import DOCS, REPOSITORY, anchors, documents, links

HERE = ("https://", "http://")


def titles() -> list[str]:
    return [str(path.relative_to(REPOSITORY)) for path in documents()]


def named_in_navigation(entries: object) -> set[str]:
    """All files that the navigation names, however deep."""
    if isinstance(entries, str):
        return {entries}
    values = entries.values() if isinstance(entries, dict) else entries
    assert not isinstance(values, str)
    return {name for entry in values for name in named_in_navigation(entry)}  # type: ignore[attr-defined]


@pytest.mark.parametrize("title", titles())
def test_every_link_names_a_file_and_a_heading_that_exist(title: str) -> None:
    path = REPOSITORY / title
    wrong = [link for link in links(path.read_text(encoding="utf-8")) if not leads_somewhere(path, link)]
    assert wrong == []


def leads_somewhere(path: Path, link: str) -> bool:
    """Whether the link of this document has a target. Those to other places are not followed."""
    if link.startswith(HERE):
        return True
    file, _, anchor = link.partition("#")
    target = (path.parent / file).resolve() if file else path
    if not target.exists():
        return False
    return not anchor or anchor in anchors(target.read_text(encoding="utf-8"))


def test_no_document_links_out_of_its_folder() -> None:
    """The site has the folder `docs` only; what is elsewhere is named as code."""
    for path in DOCS.rglob("*.md"):
        for link in links(path.read_text(encoding="utf-8")):
            if not link.startswith(HERE):
                assert (path.parent / link.partition("#")[0]).resolve().is_relative_to(DOCS), (path, link)


def test_the_navigation_has_every_document_but_the_runbooks() -> None:
    navigation = named_in_navigation(yaml.safe_load((REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    assert navigation == {path.name for path in DOCS.glob("*.md")}


def test_the_readme_leads_to_the_installation_and_the_order_of_reading() -> None:
    found = links((REPOSITORY / "README.md").read_text(encoding="utf-8"))
    assert {"docs/install.md", "docs/index.md"} <= set(found)


@pytest.mark.skipif(find_spec("mkdocs") is None, reason="the extra `docs` is not installed: `make docs` does it")
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "install.html").is_file()
