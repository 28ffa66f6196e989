"""Manifests as people write them: YAML with one or several documents, and lists."""

from collections.abc import Iterator
from typing import Any

import yaml

from api.errors import ConfigurationError

Manifest = dict[str, Any]


def read_manifests(text: str, namespace: str) -> list[Manifest]:
    """The objects of a file, each with its namespace.

    Args:
        text: the file.
        namespace: of objects that name none.

    Raises:
        ConfigurationError: it is no YAML, or holds something that is no object.
    """
    try:
        documents = list(yaml.safe_load_all(text))
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigurationError(f"the file is no YAML: {' '.join(str(error).split())[:200]}") from error
    found = [made for document in documents for made in _objects(document)]
    for made in found:
        made["metadata"].setdefault("namespace", namespace)
    return found


def _objects(document: Any) -> Iterator[Manifest]:
    if document is None:
        return
    if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
        raise ConfigurationError("a document of the file is no object: it has no kind")
    if document["kind"] == "List":
        for item in document.get("items") or ():
            yield from _objects(item)
        return
    metadata = document.get("metadata")
    if not isinstance(metadata, dict) or not (metadata.get("name") or metadata.get("generateName")):
        raise ConfigurationError(f"a {document['kind']} of the file has no name")
    metadata.setdefault("name", f"{metadata.get('generateName')}fit")
    yield document
