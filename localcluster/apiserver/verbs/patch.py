"""Patching: an update whose new object is computed from the stored one, again if that changes meanwhile."""

import orjson

from localcluster.apiserver import status
from localcluster.apiserver.core import Core
from localcluster.apiserver.fielderrors import invalid_value
from localcluster.apiserver.kinds.kind import KindInfo, Object, RequestContext
from localcluster.apiserver.kinds.plain import PlainStrategy
from localcluster.apiserver.kinds.wiretypes import go_kind
from localcluster.apiserver.patches.apply import decoded_patch, patched
from localcluster.apiserver.store.memory import Stored
from localcluster.apiserver.verbs.checks import check_fields, check_metadata, check_type
from localcluster.apiserver.verbs.options import WriteOptions
from localcluster.apiserver.verbs.read import served
from localcluster.apiserver.verbs.update import Target, modify, wrong_name


async def patch(
    core: Core,
    target: Target,
    body: bytes,
    content_type: str,
    options: WriteOptions,
    context: RequestContext,
) -> Stored:
    """Apply the patch.

    Raises:
        StatusError: refused.
    """
    kind = target.kind
    media_type, content = decoded_patch(kind, body, content_type)

    def result(stored: Stored) -> Object:
        return patched(media_type, served(kind, [stored])[0].copy(), content)

    def change(stored: Stored, old: Object) -> Object:
        del old
        new = result(stored)
        if not isinstance(new.get("metadata"), dict):
            raise _undecodable(new, _no_metadata(kind, new.get("metadata")))
        check_type(kind, new)
        name = new["metadata"].get("name")
        if name != target.name:
            raise wrong_name(str(name or ""), target.name)
        try:
            check_metadata(kind, new, target.namespace)
            check_fields(kind, new, options, context)
        except status.StatusError as refusal:
            # The fields that are not known are gone from the object by now, and the complaint shows all of it.
            raise _undecodable(result(stored), refusal) from refusal
        return new

    return await modify(core, target, change, options, context)


def _no_metadata(kind: KindInfo, found: object) -> status.StatusError:
    where = "value" if kind.definition is not None else f"struct field {kind.kind}.metadata"
    return status.bad_request(f"of it: json: cannot unmarshal {go_kind(found)} into Go {where} of type v1.ObjectMeta")


def _undecodable(new: Object, refusal: status.StatusError) -> status.StatusError:
    """The patch makes an object that cannot be read: that is the patch's fault."""
    if refusal.code != 400:
        return refusal
    why = refusal.message.partition(": ")[2] or refusal.message
    nothing = KindInfo("", "", "", "", PlainStrategy())
    refused = status.invalid(nothing, "", [invalid_value("patch", orjson.dumps(new).decode(), why)])
    refused.message = f' "" is invalid: {refused.message.partition(" is invalid: ")[2]}'
    refused.details.pop("kind", None)
    return refused
