"""Writes localcluster/apiserver/protobuf/tables/: which number and type each field of Kubernetes' messages has.

`python -m hack.protobuf_tables FOLDER`, where FOLDER holds the Go modules `api@VERSION` and `apimachinery@VERSION`. Types
come from the .proto files; which zeros are values and which fields are inlined, only Go knows: the struct tags in types.go.
"""

import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "localcluster" / "apiserver" / "protobuf" / "tables"
PACKAGES = {
    "api": (
        "admissionregistration/v1",
        "apps/v1",
        "authentication/v1",
        "authorization/v1",
        "autoscaling/v1",
        "batch/v1",
        "coordination/v1",
        "core/v1",
        "events/v1",
        "policy/v1",
        "rbac/v1",
        "resource/v1",
        "scheduling/v1",
        "scheduling/v1alpha3",
        "storage/v1",
    ),
    "apiextensions-apiserver": ("pkg/apis/apiextensions/v1",),
    "apimachinery": ("pkg/apis/meta/v1",),
}
ROOTS = [
    "core.v1.Binding",
    "core.v1.ConfigMap",
    "core.v1.Event",
    "core.v1.LimitRange",
    "core.v1.Namespace",
    "core.v1.Node",
    "core.v1.PersistentVolume",
    "core.v1.PersistentVolumeClaim",
    "core.v1.Pod",
    "core.v1.PodTemplate",
    "core.v1.ReplicationController",
    "core.v1.ResourceQuota",
    "core.v1.Secret",
    "core.v1.Service",
    "core.v1.ServiceAccount",
    "admissionregistration.v1.MutatingWebhookConfiguration",
    "admissionregistration.v1.ValidatingAdmissionPolicy",
    "admissionregistration.v1.ValidatingAdmissionPolicyBinding",
    "admissionregistration.v1.ValidatingWebhookConfiguration",
    "apiextensions.v1.CustomResourceDefinition",
    "apps.v1.ControllerRevision",
    "apps.v1.DaemonSet",
    "apps.v1.Deployment",
    "apps.v1.ReplicaSet",
    "apps.v1.StatefulSet",
    "authentication.v1.SelfSubjectReview",
    "authentication.v1.TokenRequest",
    "authentication.v1.TokenReview",
    "authorization.v1.LocalSubjectAccessReview",
    "authorization.v1.SelfSubjectAccessReview",
    "authorization.v1.SelfSubjectRulesReview",
    "authorization.v1.SubjectAccessReview",
    "autoscaling.v1.Scale",
    "batch.v1.CronJob",
    "batch.v1.Job",
    "coordination.v1.Lease",
    "meta.v1.CreateOptions",
    "meta.v1.DeleteOptions",
    "events.v1.Event",
    "policy.v1.Eviction",
    "policy.v1.PodDisruptionBudget",
    "rbac.v1.ClusterRole",
    "rbac.v1.ClusterRoleBinding",
    "rbac.v1.Role",
    "rbac.v1.RoleBinding",
    "resource.v1.DeviceClass",
    "resource.v1.DeviceTaintRule",
    "resource.v1.ResourceClaim",
    "resource.v1.ResourceClaimTemplate",
    "resource.v1.ResourceSlice",
    "scheduling.v1.PriorityClass",
    "storage.v1.CSIDriver",
    "storage.v1.CSINode",
    "storage.v1.CSIStorageCapacity",
    "storage.v1.StorageClass",
    "storage.v1.VolumeAttachment",
]
SPECIAL = {
    *("Time", "MicroTime", "Quantity", "IntOrString", "RawExtension", "FieldsV1"),
    *("JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"),
}
SCALARS = {"string", "bool", "bytes", "int32", "int64", "double"}
WIDTH = 118
TOGETHER = "\x00"

_MESSAGE = re.compile(r"^message (\w+) \{(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^\s*(?:(optional|repeated) ([.\w]+)|map<string, ([.\w]+)>) (\w+) = (\d+);", re.MULTILINE)
_STRUCT = re.compile(r"^type (\w+) struct \{(.*?)^\}", re.MULTILINE | re.DOTALL)
_TAGGED = re.compile(r'^\s*(?:\w+\s+)?(\S+)\s+`json:"([^",]*)([^"]*)".*?protobuf:"\w+,(\d+),', re.MULTILINE)

HEAD = '''"""Numbers and types of the fields of {what}; written by hack/protobuf_tables.py, not by hand.

One message per paragraph: its name, then `number name type`, where `*` marks a field whose zero is a value (that of another is
none), `^` one whose own fields appear in its place, `[type]` a list and `{type}` a map with strings for keys.
"""

TABLES = """\\
'''
FILES = {"core": "the messages of core/v1", "groups": "the messages of all groups but the core one"}


@dataclass(frozen=True)
class Field:
    """One field of a message."""

    number: int
    name: str
    type: str
    mark: str

    def __str__(self) -> str:
        return f"{self.number} {self.name} {self.mark}{self.type}"


def short(name: str, package: str) -> str:
    """`core.v1.Pod` of a full, relative or scalar type name of a .proto file."""
    if name in SCALARS:
        return name
    parts = name.strip(".").split(".")
    if parts[-1] in SPECIAL:
        return parts[-1]
    return ".".join(parts[-3:]) if len(parts) > 1 else f"{package}.{name}"


def read(folder: Path, package: str) -> Iterator[tuple[str, list[Field]]]:
    """The messages of one package."""
    tags = {
        (struct, int(number)): (kind.startswith("*") or not options, name)
        for file in folder.glob("*types*.go")
        for struct, body in _STRUCT.findall(file.read_text())
        for kind, name, options, number in _TAGGED.findall(body)
    }
    for message, body in _MESSAGE.findall((folder / "generated.proto").read_text()):
        fields = []
        for label, plain, mapped, name, number in _FIELD.findall(body):
            kept, json_name = tags.get((message, int(number)), (False, name))
            kind = short(plain or mapped, package)
            kind = f"[{kind}]" if label == "repeated" else f"{{{kind}}}" if mapped else kind
            fields.append(Field(int(number), json_name or name, kind, "*" * kept + "^" * (not json_name)))
        yield f"{package}.{message}", sorted(fields, key=lambda field: field.number)


def reachable(messages: dict[str, list[Field]]) -> list[str]:
    """The roots and all that they consist of."""
    waiting, found = list(ROOTS), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in found and name in messages:
            found.add(name)
            waiting += [field.type.strip("[]{}") for field in messages[name]]
    return sorted(found)


def main() -> None:
    root = Path(sys.argv[1])
    messages: dict[str, list[Field]] = {}
    for module, packages in PACKAGES.items():
        (folder,) = root.glob(f"{module}@*")
        for each in packages:
            messages |= dict(read(folder / each, ".".join(each.split("/")[-2:])))
    names = reachable(messages)
    for file, what in FILES.items():
        chosen = [name for name in names if name.startswith("core.") == (file == "core")]
        text = HEAD.replace("{what}", what) + "\n".join(paragraph(name, messages[name]) for name in chosen) + '\n"""\n'
        (TARGET / f"{file}.py").write_text(text)
        print(f"{TARGET / file}.py: {len(chosen)} messages")


def paragraph(name: str, fields: list[Field]) -> str:
    """A message as the tables tell it; a field is never broken over two lines."""
    told = f"{name}: " + "; ".join(str(field).replace(" ", TOGETHER) for field in fields)
    wrapped = textwrap.wrap(told, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(wrapped).replace(TOGETHER, " ")


if __name__ == "__main__":
    main()
