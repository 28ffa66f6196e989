"""CronJobs as their controller reads them."""

import msgspec

from api.meta import NO_METADATA, Metadata


class JobReference(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """An entry of `status.active`."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class CronJobSpec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec` of a CronJob; times in seconds."""

    schedule: str = ""
    time_zone: str | None = None
    starting_deadline_seconds: int | None = None
    concurrency_policy: str = "Allow"
    suspend: bool | None = None
    successful_jobs_history_limit: int | None = None
    failed_jobs_history_limit: int | None = None


class CronJobStatus(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """`status` of a CronJob; the times are RFC 3339."""

    active: tuple[JobReference, ...] = ()
    last_schedule_time: str | None = None
    last_successful_time: str | None = None


class CronJob(msgspec.Struct, frozen=True):
    """A CronJob."""

    metadata: Metadata = NO_METADATA
    spec: CronJobSpec = CronJobSpec()
    status: CronJobStatus = CronJobStatus()
