"""Reading `config/` without kustomize."""

from pathlib import Path

import pytest

from api.errors import ConfigurationError
from install.manifests import load

ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: NAME, namespace: n}\n"


def write(folder: Path, listing: str, **files: str) -> Path:
    (folder / "rbac").mkdir()
    (folder / "rbac" / "kustomization.yaml").write_text(listing)
    for name, text in files.items():
        (folder / "rbac" / f"{name}.yaml").write_text(text)
    return folder


def test_files_come_in_the_order_of_their_list_with_all_their_documents(tmp_path: Path) -> None:
    two = ACCOUNT.replace("NAME", "b1") + "---\n" + ACCOUNT.replace("NAME", "b2")
    folder = write(tmp_path, "resources: [b.yaml, a.yaml]", a=ACCOUNT.replace("NAME", "a"), b=two)
    found = load("rbac", folder=folder)
    assert [(each.name, each.namespace, each.title) for each in found] == [
        (name, "n", f"ServiceAccount {name}") for name in ("b1", "b2", "a")
    ]


def test_a_list_may_name_folders(tmp_path: Path) -> None:
    folder = write(tmp_path, "resources: [../more]")
    (folder / "more").mkdir()
    (folder / "more" / "kustomization.yaml").write_text("resources: [a.yaml]")
    (folder / "more" / "a.yaml").write_text(ACCOUNT)
    assert [each.name for each in load("rbac", folder=folder)] == ["NAME"]


@pytest.mark.parametrize(
    ("listing", "content", "complaint"),
    [
        ("resources: [gone.yaml]", "", "incomplete: .*gone.yaml: No such file"),
        ("resources: [a.yaml]\nnamePrefix: x-", "", "only a list of resources is understood"),
        ("", "", "only a list of resources is understood"),
        ("resources: [a.yaml]", "a: [", "a.yaml is no YAML"),
        ("resources: [a.yaml]", "[]", "every document must be an object"),
        ("resources: [a.yaml]", "apiVersion: v1\nkind: Pod", "v1 Pod is no kind that Tutti installs"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(tmp_path: Path, listing: str, content: str, complaint: str) -> None:
    folder = write(tmp_path, listing, a=content)
    with pytest.raises(ConfigurationError, match=complaint) as caught:
        load("rbac", folder=folder)
    assert "\n" not in str(caught.value)
