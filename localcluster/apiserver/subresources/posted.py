"""What the subresources that one posts to have in common: their options, and admission of their bodies."""

from localcluster.apiserver import status
from localcluster.apiserver.admission import AdmissionAttributes
from localcluster.apiserver.dispatch import Call
from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.verbs.create import require_open_namespace
from localcluster.apiserver.verbs.options import WriteOptions, write_options


def posted_options(call: Call) -> WriteOptions:
    """The options of a POST.

    Raises:
        StatusError: it is no POST, or an option makes no sense.
    """
    if call.info.verb != "create":
        raise status.method_not_allowed()
    options = write_options("CreateOptions", call.request.query)
    call.context.dry_run = options.dry_run
    return options


async def admit(call: Call, body: Object, api_version: str, kind: str, options: WriteOptions) -> Object:
    """The body after admission.

    Raises:
        StatusError: admission refused it, or the namespace is on its way out: a POST counts as new content.
    """
    require_open_namespace(call.core, call.kind, call.namespace, {"metadata": {"name": call.info.name}})
    attributes = AdmissionAttributes(
        verb="CREATE",
        kind=call.kind,
        subresource=call.info.subresource,
        namespace=call.namespace,
        name=call.info.name,
        obj={**body, "apiVersion": api_version, "kind": kind},
        old=None,
        options=options.as_object(),
        user=call.context.user,
        dry_run=options.dry_run,
        object_api_version=api_version,
        object_kind=kind,
        warnings=call.context.warnings,
    )
    await call.core.admission.mutate(attributes)
    await call.core.admission.validate(attributes)
    return attributes.obj or body
