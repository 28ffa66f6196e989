"""Who may write what: each of our processes has one service account and one task.

Imports nothing of the product but names: the table is the design's, written down a second time.
"""

from api.constants import CONTROLLERS_NAME, SCHEDULER_NAME, SYSTEM_NAMESPACE, WEBHOOKS_NAME
from verify.auditor.audit_log import Record

INSTALLER = "installer"
UNINSTALLER = "uninstaller"
"""The people who run `tutti run` and `tutti uninstall` in tests."""

ACCOUNT_PREFIX = f"system:serviceaccount:{SYSTEM_NAMESPACE}:"
CONTROLLERS_USER = ACCOUNT_PREFIX + CONTROLLERS_NAME
SCHEDULER_USER = ACCOUNT_PREFIX + SCHEDULER_NAME
WEBHOOKS_USER = ACCOUNT_PREFIX + WEBHOOKS_NAME
OURS = frozenset({CONTROLLERS_USER, SCHEDULER_USER, WEBHOOKS_USER})
THIEF = "thief"
"""The client by which a test plays somebody who holds a token of ours; what it may not do is no fault of our processes."""

READS = {"get", "list", "watch"}
PLAYERS = ("tutti-hollow-nodes", "tutti-stand-ins")
"""Clients of ours that play a part of the cluster itself."""

PROBES = {
    "selfsubjectaccessreviews",
    "selfsubjectrulesreviews",
    "selfsubjectreviews",
    "tokenreviews",
    "subjectaccessreviews",
}
COMMON = {"events", "leases", "configmaps", *PROBES}
OWN_CONDITION = {"jobs/status", "leaderworkersets/status"}
"""Where the controllers say that the CRD of a gang scheduler is missing, and nothing else."""

ALLOWED = {
    "tutti-controllers": {*COMMON, "jobs", *OWN_CONDITION, "pods", "workloads", "podgroups", "compositepodgroups"},
    "tutti-scheduler": {
        *COMMON,
        "persistentvolumeclaims",
        "resourceclaims",
        "resourceclaims/status",
        "persistentvolumes",
        "pods",
        "pods/binding",
        "pods/status",
        "podgroups/status",
        "compositepodgroups/status",
    },
    "tutti-webhooks": {*COMMON, "secrets", "mutatingwebhookconfigurations", "validatingwebhookconfigurations"},
}
"""The writes each process needs; `pods` for the scheduler is deletion (preemption), for controllers the annotation."""

NEVER_BY_INSTALLER = {
    "compositepodgroups",
    "compositepodgroups/status",
    "jobs",
    "leases",
    "podgroups",
    "podgroups/status",
    "pods",
    "pods/binding",
    "pods/status",
    "workloads",
}
"""What `tutti run` itself, which has its user's rights, must leave to the three processes."""


def forbidden_write(record: Record) -> str | None:
    """What is wrong with the author of this request; None when nothing is. Reads count only when they were denied."""
    if record.resource in PROBES:
        return None  # asking for rights changes nothing, whoever asks
    if record.agent == THIEF:
        return None
    if record.user == INSTALLER:
        return "tutti run wrote under its user's rights" if record.resource in NEVER_BY_INSTALLER else None
    account = record.user.removeprefix(ACCOUNT_PREFIX)
    if account == record.user:
        ours = record.agent.startswith("tutti") and not record.agent.startswith(PLAYERS)
        harmless = record.user == UNINSTALLER or record.resource in PROBES or not record.succeeded
        return "a process of ours wrote as somebody else" if ours and not harmless else None
    allowed = ALLOWED.get(account)
    if allowed is None:
        return "an unknown account of our namespace wrote"
    if record.denied:
        return "a process lacks a right it uses"
    if record.verb not in READS and record.resource not in allowed:
        return f"{account} wrote a kind that is not its task"
    return None
