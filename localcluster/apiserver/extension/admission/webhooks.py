"""Asks the webhooks that a write concerns: the mutating ones one after the other, the validating ones all at once.

Two rounds at most of the mutating ones: one that was asked before somebody else changed the object, and that wants it, is asked
once more. What a failing webhook means is up to its failure policy; a patch that cannot be applied is an internal error.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from typing import Any, Final

import orjson

from localcluster.apiserver import status
from localcluster.apiserver.admission import AdmissionAttributes
from localcluster.apiserver.core import random_uid
from localcluster.apiserver.extension.admission.answers import Answer, WebhookFailed, read_answer
from localcluster.apiserver.extension.admission.authorizing import Allows, authorizer_of
from localcluster.apiserver.extension.admission.caller import Caller
from localcluster.apiserver.extension.admission.conditions import ConditionError, conditions_hold
from localcluster.apiserver.extension.admission.hooks import Hook
from localcluster.apiserver.extension.admission.matching import matches_namespace, matches_object, matches_rules
from localcluster.apiserver.extension.admission.question import refusal_name, review, variables
from localcluster.apiserver.patches.jsonpatch import apply_json_patch

Object = dict[str, Any]
FindNamespace = Callable[[str], Object | None]

_log: Final = logging.getLogger(__name__)


class Webhooks:
    """Asks webhooks about writes.

    Args:
        caller: reaches them.
        namespace: the Namespace of a name, None when there is none.
        allows: whether a user may do something.
        source: where the UIDs of reviews come from.
    """

    def __init__(self, caller: Caller, namespace: FindNamespace, allows: Allows, source: random.Random) -> None:
        self._caller = caller
        self._namespace = namespace
        self._allows = allows
        self._random = source

    async def mutate(self, hooks: Sequence[Hook], attributes: AdmissionAttributes) -> bool:
        """Lets the webhooks change the object; whether one did.

        Raises:
            StatusError: one refused the write, or failed and must not.
        """
        asked: list[Hook] = []
        again: list[Hook] = []
        for hook in hooks:
            answer = await self._ask(hook, attributes, mutating=True)
            if answer is None:
                continue
            if _apply(answer, attributes):
                again = [*again, *(each for each in asked if each not in again)]
            if hook.reinvoked:
                asked.append(hook)
        changed = bool(again)
        for hook in again:
            answer = await self._ask(hook, attributes, mutating=True)
            if answer is not None:
                _apply(answer, attributes)
        return changed

    async def validate(self, hooks: Sequence[Hook], attributes: AdmissionAttributes) -> None:
        """Asks all of them at once.

        Raises:
            StatusError: one refused the write, or failed and must not.
        """
        concerned = [hook for hook in hooks if self._concerns(hook, attributes)]
        if not concerned:
            return
        asked = [self._answer(hook, attributes, mutating=False) for hook in concerned]
        results = await asyncio.gather(*asked, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        for result in results:
            if isinstance(result, Answer):
                attributes.warnings.extend(result.warnings)

    async def _ask(self, hook: Hook, attributes: AdmissionAttributes, *, mutating: bool) -> Answer | None:
        if not self._concerns(hook, attributes):
            return None
        answer = await self._answer(hook, attributes, mutating=mutating)
        if answer is not None:
            attributes.warnings.extend(answer.warnings)
        return answer

    def _concerns(self, hook: Hook, attributes: AdmissionAttributes) -> bool:
        if not (
            matches_rules(hook.rules, attributes)
            and matches_namespace(hook.namespace_selector, attributes, self._namespace(attributes.namespace))
            and matches_object(hook.object_selector, attributes)
        ):
            return False
        if not hook.conditions:
            return True
        policy = "Ignore" if hook.ignores_failure else "Fail"
        given = variables(attributes, authorizer_of(attributes, self._allows))
        try:
            return conditions_hold(hook.conditions, given, failure_policy=policy)
        except ConditionError as error:
            raise status.forbidden(attributes.kind, refusal_name(attributes), str(error)) from error

    async def _answer(self, hook: Hook, attributes: AdmissionAttributes, *, mutating: bool) -> Answer | None:
        if attributes.dry_run and hook.has_side_effects:
            raise status.bad_request(f'admission webhook "{hook.name}" does not support dry run')
        uid = random_uid(self._random)
        try:
            code, body = await self._caller.call(hook, review(attributes, uid))
            answer = read_answer(hook.name, uid, code, body, mutating=mutating)
        except WebhookFailed as error:
            text = f'failed calling webhook "{hook.name}": {error}'
            if not hook.ignores_failure:
                raise status.internal(text) from error
            _log.debug("%s", text)
            return None
        if answer.refusal is not None:
            raise answer.refusal
        return answer


def _apply(answer: Answer, attributes: AdmissionAttributes) -> bool:
    """Whether the answer's patch changed the object."""
    if not answer.patch or attributes.obj is None:
        return False
    before = orjson.dumps(attributes.obj, option=orjson.OPT_SORT_KEYS)
    changed: Object = orjson.loads(before)
    for operation in answer.patch:
        try:
            changed = apply_json_patch(changed, [operation])
        except status.StatusError as error:
            raise status.internal(_unfit(operation)) from error
    if not isinstance(changed, dict) or orjson.dumps(changed, option=orjson.OPT_SORT_KEYS) == before:
        return False
    attributes.obj = changed
    return True


def _unfit(operation: Any) -> str:
    name = operation.get("op") if isinstance(operation, dict) else None
    path = operation.get("path") if isinstance(operation, dict) else None
    if name == "test":
        return f"testing value {path} failed: test failed"
    return f"{name} operation does not apply: doc is missing path: {path}: missing value"
