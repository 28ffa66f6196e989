"""Asks the scheduler of a cluster, for people who may not read what decisions read. Only GET is ever sent."""

from typing import Final

import msgspec

from api.constants import WHY_PORT_NAME, WHY_SERVICE, WHY_TOKEN_HEADER
from api.errors import ConfigurationError
from explain.answer import Answer
from explain.targets import Target
from kube.client.client import Client
from kube.client.errors import AnsweredError, Forbidden, KubeError, NotFound, Unauthorized

_ANSWER_SECONDS: Final = 60.0
_SERVICE: Final = f"https:{WHY_SERVICE}:{WHY_PORT_NAME}"


async def ask_scheduler(client: Client, target: Target, system_namespace: str) -> list[Answer]:
    """What the scheduler says; nothing when it knows nothing of that name.

    Args:
        client: as whom.
        target: what is asked about.
        system_namespace: where the scheduler is.

    Raises:
        ConfigurationError: it does not answer people like this one, and what he could do.
    """
    proxy = f"/api/v1/namespaces/{system_namespace}/services/{_SERVICE}/proxy"
    path = f"{proxy}/why/namespaces/{target.namespace}/{target.kind}/{target.name}"
    try:
        answer = await client.ask_behind(path, token_header=WHY_TOKEN_HEADER, timeout_seconds=_ANSWER_SECONDS)
        return msgspec.json.decode(answer, type=list[Answer])
    except NotFound as error:
        if not error.reason:  # the scheduler's own; the API server gives a reason when there is no such Service
            return []
        raise _not_told(f"there is no Service {WHY_SERVICE} in {system_namespace}") from error
    except Unauthorized as error:
        raise _not_told("the scheduler knows people by a token, and you show none that is valid") from error
    except Forbidden as error:
        raise _not_told(error.message) from error
    except AnsweredError as error:
        raise ConfigurationError(f"the scheduler does not answer now: {error.message}") from error
    except (KubeError, msgspec.MsgspecError) as error:
        raise ConfigurationError(f"the scheduler's answer was lost: {error}") from error


def _not_told(why: str) -> ConfigurationError:
    return ConfigurationError(
        f"you may not list nodes and pods of the whole cluster, and the scheduler cannot be asked: {why}"
    )
