"""What an installation consists of: a CycloneDX document of the packages that the image has, in the versions that were tried."""

import json
import re
import uuid
from datetime import UTC, datetime
from importlib.metadata import Distribution, distribution
from typing import Any, Final

from packaging.requirements import Requirement

from hack.dist.project import project, version

_NAMESPACE: Final = uuid.UUID("6b1f6a0e-6d0c-5f0a-9d53-0d1f7c6f7f43")


def sbom(epoch: int) -> str:
    """The document as JSON."""
    packages = runtime_packages()
    components = [_component(found) for _, found in sorted(packages.items())]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": "tutti",
                "name": "tutti",
                "version": version(),
                "licenses": [{"license": {"id": project()["license"]}}],
            },
        },
        "components": components,
        "dependencies": [
            {"ref": "tutti", "dependsOn": sorted(_ref(packages[name]) for name in _direct(project()["dependencies"]))},
            *(
                {
                    "ref": _ref(found),
                    "dependsOn": sorted(_ref(packages[each]) for each in _direct(found.requires or [])),
                }
                for _, found in sorted(packages.items())
            ),
        ],
    }
    # A number of its own for every content, and the same for the same.
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(_NAMESPACE, json.dumps(document, sort_keys=True))}"
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def runtime_packages() -> dict[str, Distribution]:
    """All packages that the product needs to run, and what those need, by their names; extras are not among them."""
    found: dict[str, Distribution] = {}
    waiting = _direct(project()["dependencies"])
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = distribution(name)
            waiting += _direct(found[name].requires or [])
    return found


def _direct(requirements: list[str]) -> list[str]:
    wanted = [Requirement(each) for each in requirements]
    return [_canonical(each.name) for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})]


def _component(found: Distribution) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": _ref(found),
        "name": _canonical(found.metadata["Name"]),
        "version": found.version,
        "purl": _ref(found),
    }
    license_expression = found.metadata.json.get("license_expression")
    if license_expression:
        component["licenses"] = [{"expression": license_expression}]
    return component


def _ref(found: Distribution) -> str:
    return f"pkg:pypi/{_canonical(found.metadata['Name'])}@{found.version}"


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
