"""The admission chain of the server: own plugins, mutating webhooks; then policies and validating webhooks.

The configurations are read from the store once and again when one of them has changed, so that a write for which nothing is
configured costs next to nothing.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar

from localcluster.apiserver.admission import AdmissionAttributes
from localcluster.apiserver.extension.admission.authorizing import Allows, authorizer_of
from localcluster.apiserver.extension.admission.caller import Caller
from localcluster.apiserver.extension.admission.claims import CLAIMS, STORAGE_CLASSES, check_growth, choose_class
from localcluster.apiserver.extension.admission.devices import check_devices
from localcluster.apiserver.extension.admission.hooks import Hook, hooks_of
from localcluster.apiserver.extension.admission.matching import (
    ADMISSION_GROUP,
    covers_resource,
    is_exempt,
    is_exempt_from_policies,
)
from localcluster.apiserver.extension.admission.pods import PODS, PRIORITY_CLASSES, admit_pod, check_default_class
from localcluster.apiserver.extension.admission.policies import Bound, bound_policies, check_policies
from localcluster.apiserver.extension.admission.question import refusal_name
from localcluster.apiserver.extension.admission.webhooks import Webhooks
from localcluster.apiserver.status import forbidden
from localcluster.apiserver.store.memory import Store

Object = dict[str, Any]
Value = TypeVar("Value")

MUTATING: Final = (ADMISSION_GROUP, "mutatingwebhookconfigurations")
VALIDATING: Final = (ADMISSION_GROUP, "validatingwebhookconfigurations")
POLICIES: Final = (ADMISSION_GROUP, "validatingadmissionpolicies")
BINDINGS: Final = (ADMISSION_GROUP, "validatingadmissionpolicybindings")
DEFINITIONS: Final = ("apiextensions.k8s.io", "customresourcedefinitions")
NAMESPACES: Final = ("", "namespaces")


class Chain:
    """Admission as the server calls it.

    Args:
        store: where the configurations, namespaces and priority classes are.
        caller: reaches the webhooks.
        allows: whether a user may do something: expressions may ask.
        source: where the UIDs of reviews come from.
    """

    def __init__(self, store: Store, caller: Caller, allows: Allows, source: random.Random) -> None:
        self._store = store
        self._allows = allows
        self._webhooks = Webhooks(caller, self.namespace, allows, source)
        self._mutating = _Kept[Hook](store, (MUTATING,), lambda: hooks_of(self._objects(MUTATING)), _rules_of_hook)
        self._validating = _Kept[Hook](
            store, (VALIDATING,), lambda: hooks_of(self._objects(VALIDATING)), _rules_of_hook
        )
        self._policies = _Kept[Bound](
            store,
            (POLICIES, BINDINGS),
            lambda: bound_policies(self._objects(POLICIES), self._objects(BINDINGS)),
            _rules_of_policy,
        )

    async def mutate(self, attributes: AdmissionAttributes) -> None:
        """May change the object. StatusError: the write is refused."""
        if attributes.verb == "CREATE" and attributes.kind.definition is not None:
            self._refuse_while_ending(attributes)
        self._own(attributes)
        hooks = self._mutating.about(attributes)
        if not hooks or is_exempt(attributes):
            return
        before = attributes.obj
        await self._webhooks.mutate(hooks, attributes)
        if attributes.obj is not before:
            self._own(attributes)

    async def validate(self, attributes: AdmissionAttributes) -> None:
        """StatusError: the write is refused."""
        if attributes.kind.resource == PRIORITY_CLASSES:
            check_default_class(attributes, self._objects(PRIORITY_CLASSES))
        if attributes.kind.resource == CLAIMS:
            check_growth(attributes, self._objects(STORAGE_CLASSES))
        check_devices(attributes, self.namespace(attributes.namespace), self._allows)
        policies = self._policies.about(attributes)
        if policies and not is_exempt_from_policies(attributes):
            authorizer = authorizer_of(attributes, self._allows)
            check_policies(policies, attributes, self.namespace(attributes.namespace), authorizer)
        hooks = self._validating.about(attributes)
        if hooks and not is_exempt(attributes):
            await self._webhooks.validate(hooks, attributes)

    def namespace(self, name: str) -> Object | None:
        """The Namespace of that name."""
        found = self._store.get(NAMESPACES, "", name) if name else None
        return found.obj if found is not None else None

    def _refuse_while_ending(self, attributes: AdmissionAttributes) -> None:
        """No object is created whose kind is going away."""
        crd = self._store.get(DEFINITIONS, "", attributes.kind.qualified)
        if crd is not None and crd.obj["metadata"].get("deletionTimestamp"):
            text = "create not allowed while custom resource definition is terminating"
            raise forbidden(attributes.kind, refusal_name(attributes), text)

    def _own(self, attributes: AdmissionAttributes) -> None:
        if attributes.kind.resource == PODS and not attributes.subresource:
            admit_pod(attributes, self._objects(PRIORITY_CLASSES))
        if attributes.kind.resource == CLAIMS:
            choose_class(attributes, self._objects(STORAGE_CLASSES))

    def _objects(self, resource: tuple[str, str]) -> list[Object]:
        return [stored.obj for stored in self._store.list(resource)]


def _rules_of_hook(hook: Hook) -> Sequence[Object]:
    return hook.rules


def _rules_of_policy(bound: Bound) -> Sequence[Object]:
    return (bound.spec.get("matchConstraints") or {}).get("resourceRules") or ()


class _Kept(Generic[Value]):
    """What was made of some objects of the store, until one of them changes.

    Which of it can be about a write at all follows from the operation and the resource, so that is found out once for each.
    """

    def __init__(
        self,
        store: Store,
        resources: tuple[tuple[str, str], ...],
        make: Callable[[], tuple[Value, ...]],
        rules: Callable[[Value], Sequence[Object]],
    ) -> None:
        self._make = make
        self._rules = rules
        self._made: tuple[Value, ...] | None = None
        self._about: dict[tuple[str | bool, ...], tuple[Value, ...]] = {}
        for resource in resources:
            store.subscribe(resource, lambda _: self._forget())

    def about(self, attributes: AdmissionAttributes) -> tuple[Value, ...]:
        """Those with a rule for the operation and the resource of the write; names, selectors and conditions are not looked at."""
        if self._made is None:
            self._made = self._make()
        kind = attributes.kind
        key = (attributes.verb, kind.group, kind.version, kind.plural, kind.namespaced, attributes.subresource)
        found = self._about.get(key)
        if found is None:
            found = tuple(each for each in self._made if covers_resource(self._rules(each), attributes))
            self._about[key] = found
        return found

    def _forget(self) -> None:
        self._made = None
        self._about.clear()
