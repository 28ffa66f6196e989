"""What the API server lets our accounts do is what docs/security.md says, no more and no less, in every namespace."""

from dataclasses import replace

import pytest

from api.constants import CONTROLLERS_NAME, SCHEDULER_NAME, SYSTEM_NAMESPACE, WEBHOOKS_NAME
from install.rights import Right
from tests.conformance.can_i import listed
from tests.docs.rights_tables import TABLES, rights
from verify.auditor.identities import ACCOUNT_PREFIX
from verify.clusters.controlplane import ControlPlane
from verify.clusters.tutti_process import Tutti

pytestmark = [pytest.mark.one_api, pytest.mark.real_only("no stand-in puts the rules of roles together")]
STRANGER = f"{ACCOUNT_PREFIX}stranger"
"""An account of the same namespace to which nobody has given anything: it has what all accounts have."""


def documented(account: str, namespace: str) -> set[Right]:
    """The rights that the tables name for this namespace."""
    everywhere_and_here = {"", namespace}
    return {replace(each, namespace="") for each in rights(TABLES[account]) if each.namespace in everywhere_and_here}


@pytest.mark.parametrize("account", [SCHEDULER_NAME, CONTROLLERS_NAME, WEBHOOKS_NAME])
@pytest.mark.parametrize("where", [SYSTEM_NAMESPACE, "kube-system", "default", "a user's"])
def test_an_account_may_do_what_its_table_says_and_nothing_else(
    tutti: Tutti, control_plane: ControlPlane, namespace: str, account: str, where: str
) -> None:
    here = namespace if where == "a user's" else where
    of_everybody = listed(control_plane, STRANGER, here)
    found = listed(control_plane, f"{ACCOUNT_PREFIX}{account}", here)
    assert of_everybody < found
    assert found - of_everybody == documented(account, here)


def test_what_every_account_may_do_has_nothing_to_do_with_what_ours_may(
    tutti: Tutti, control_plane: ControlPlane
) -> None:
    """So nothing was hidden by leaving it out above."""
    of_everybody = {(each.group, each.resource) for each in listed(control_plane, STRANGER, SYSTEM_NAMESPACE)}
    of_ours = {(each.group, each.resource) for table in TABLES.values() for each in rights(table)}
    assert not of_everybody & of_ours
