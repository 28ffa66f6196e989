"""The built-in kinds about who may do what, and about what may be written: roles, reviews, webhooks, policies."""

from localcluster.apiserver.kinds.config import PolicyStrategy, WebhookStrategy
from localcluster.apiserver.kinds.kind import KindInfo
from localcluster.apiserver.kinds.names import path_segment_problems
from localcluster.apiserver.kinds.plain import PlainStrategy
from localcluster.apiserver.kinds.roles import BindingStrategy, RoleStrategy

_REGISTRATION = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_CREATE = ("create",)


def access_kinds() -> list[KindInfo]:
    """All of them."""

    def roles(kind: str, plural: str, strategy: PlainStrategy, *, namespaced: bool) -> KindInfo:
        return KindInfo(_RBAC, "v1", kind, plural, strategy, namespaced=namespaced, create_on_update=True)

    def registration(kind: str, plural: str, strategy: PlainStrategy, *parts: str) -> KindInfo:
        found = frozenset(parts)
        return KindInfo(
            _REGISTRATION,
            "v1",
            kind,
            plural,
            strategy,
            namespaced=False,
            subresources=found,
            unconditional_update=False,
        )

    def webhooks(kind: str, plural: str) -> KindInfo:
        strategy = WebhookStrategy(kind, counts_generations=True)
        return registration(kind, plural, strategy)

    def review(group: str, kind: str, plural: str, *, namespaced: bool = False) -> KindInfo:
        return KindInfo(group, "v1", kind, plural, PlainStrategy(), namespaced=namespaced, verbs=_CREATE)

    role, cluster_role = (RoleStrategy(name, name_check=path_segment_problems) for name in ("Role", "ClusterRole"))
    binding, cluster_binding = (
        BindingStrategy(name, name_check=path_segment_problems) for name in ("RoleBinding", "ClusterRoleBinding")
    )
    policy = PolicyStrategy("ValidatingAdmissionPolicy", has_status=True, counts_generations=True)
    policy_binding = PolicyStrategy("ValidatingAdmissionPolicyBinding", counts_generations=True)
    authentication, authorization = "authentication.k8s.io", "authorization.k8s.io"
    return [
        roles("ClusterRoleBinding", "clusterrolebindings", cluster_binding, namespaced=False),
        roles("ClusterRole", "clusterroles", cluster_role, namespaced=False),
        roles("RoleBinding", "rolebindings", binding, namespaced=True),
        roles("Role", "roles", role, namespaced=True),
        webhooks("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
        webhooks("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
        registration("ValidatingAdmissionPolicy", "validatingadmissionpolicies", policy, "status"),
        registration("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", policy_binding),
        review(authentication, "SelfSubjectReview", "selfsubjectreviews"),
        review(authentication, "TokenReview", "tokenreviews"),
        review(authorization, "LocalSubjectAccessReview", "localsubjectaccessreviews", namespaced=True),
        review(authorization, "SelfSubjectAccessReview", "selfsubjectaccessreviews"),
        review(authorization, "SelfSubjectRulesReview", "selfsubjectrulesreviews"),
        review(authorization, "SubjectAccessReview", "subjectaccessreviews"),
    ]
