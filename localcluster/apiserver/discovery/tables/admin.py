"""Rows of the kinds that administer a cluster: CRDs, webhooks, admission policies, roles and bindings."""

from localcluster.apiserver.discovery.tables.cells import (
    AGE,
    CREATED_AT,
    NAME,
    UNSET,
    Cell,
    Object,
    Printer,
    age_of,
    boolean,
    condition_is_true,
    name_of,
    number,
    part,
    text,
)


def _version(version: Object) -> str:
    marks = [
        mark
        for mark, given in (("storage", version.get("storage")), ("deprecated", version.get("deprecated")))
        if given
    ]
    return str(version["name"]) + (f"({','.join(marks)})" if marks else "")


def definition_cells(definition: Object, _now: float) -> list[Cell]:
    """One row of a CustomResourceDefinition."""
    spec, names = part(definition, "spec"), part(definition, "spec", "names")
    return [
        name_of(definition),
        spec.get("scope", ""),
        ",".join(_version(each) for each in spec.get("versions") or () if each.get("served")),
        definition["metadata"].get("creationTimestamp", ""),
        spec.get("group", ""),
        names.get("kind", ""),
        ",".join(names.get("shortNames") or ()),
        condition_is_true(definition, "Established"),
    ]


def webhooks_cells(configuration: Object, now: float) -> list[Cell]:
    """One row of a webhook configuration."""
    return [name_of(configuration), len(configuration.get("webhooks") or ()), age_of(configuration, now)]


def policy_cells(policy: Object, now: float) -> list[Cell]:
    """One row of a ValidatingAdmissionPolicy."""
    spec = part(policy, "spec")
    kind = spec.get("paramKind")
    parameters = f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else UNSET
    return [name_of(policy), len(spec.get("validations") or ()), parameters, age_of(policy, now)]


def policy_binding_cells(binding: Object, now: float) -> list[Cell]:
    """One row of a ValidatingAdmissionPolicyBinding."""
    spec = part(binding, "spec")
    reference = spec.get("paramRef") or {}
    named = "/".join(filter(None, (reference.get("namespace"), reference.get("name"))))
    return [name_of(binding), spec.get("policyName", ""), named or UNSET, age_of(binding, now)]


def role_binding_cells(binding: Object, now: float) -> list[Cell]:
    """One row of a RoleBinding or ClusterRoleBinding."""
    role, subjects = part(binding, "roleRef"), binding.get("subjects") or ()
    named = {
        kind: ", ".join(_subject(each) for each in subjects if each.get("kind") == kind)
        for kind in ("User", "Group", "ServiceAccount")
    }
    return [name_of(binding), f"{role.get('kind', '')}/{role.get('name', '')}", age_of(binding, now), *named.values()]


def _subject(subject: Object) -> str:
    if subject.get("kind") == "ServiceAccount":
        return f"{subject.get('namespace', '')}/{subject.get('name', '')}"
    return str(subject.get("name", ""))


DEFINITION = Printer(
    (
        NAME,
        text("Scope", "Namespaced or Cluster."),
        text("Versions", "The versions that are served; the stored one is marked."),
        CREATED_AT,
        text("Group", wide=True),
        text("Kind", wide=True),
        text("ShortNames", "Shorter words for the kind.", wide=True),
        boolean("Established", "Whether it is served.", wide=True),
    ),
    definition_cells,
)
WEBHOOKS = Printer((NAME, number("Webhooks", "How many webhooks it names."), AGE), webhooks_cells)
POLICY = Printer(
    (NAME, number("Validations", "How many rules it has."), text("ParamKind", "The kind of its parameters."), AGE),
    policy_cells,
)
POLICY_BINDING = Printer(
    (NAME, text("PolicyName"), text("ParamRef", "Where its parameters are."), AGE), policy_binding_cells
)
ROLE_BINDING = Printer(
    (
        NAME,
        text("Role", "The role it gives."),
        AGE,
        text("Users", wide=True),
        text("Groups", wide=True),
        text("ServiceAccounts", wide=True),
    ),
    role_binding_cells,
)
