"""Feature gates: what the processes of one installation do at all. All of them must be given the same."""

from pydantic import Field

from kube.process.settings import StrictSettings


class FeatureGates(StrictSettings):
    """Switches, under the names they have in a settings file."""

    gang_jobs: bool = Field(default=True, alias="gangJobs")
    """Whether new Jobs become gangs. Switched off, Jobs that are gangs already are looked after until they end."""

    gang_leader_worker_sets: bool = Field(default=True, alias="gangLeaderWorkerSets")
    """Whether the replicas of new LeaderWorkerSets become gangs. Switched off, those that are gangs already are looked after."""

    gang_job_sets: bool = Field(default=True, alias="gangJobSets")
    """Whether new JobSets become gangs. Switched off, those that are gangs already are looked after."""
