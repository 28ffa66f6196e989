"""What LeaderWorkerSets need in a cluster."""

from typing import Final

from kube.client.resources import LEADER_WORKER_SETS
from localcluster.controllers.admission.installation import Installation
from localcluster.controllers.leaderworkersets.admission.configurations import mutating, validating
from localcluster.controllers.leaderworkersets.definition import definition

INSTALLATION: Final = Installation(LEADER_WORKER_SETS, definition, mutating, validating)
