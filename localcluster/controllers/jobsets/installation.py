"""What JobSets need in a cluster."""

from typing import Final

from kube.client.resources import JOB_SETS
from localcluster.controllers.admission.installation import Installation
from localcluster.controllers.jobsets.admission.configurations import mutating, validating
from localcluster.controllers.jobsets.definition import definition

INSTALLATION: Final = Installation(JOB_SETS, definition, mutating, validating)
