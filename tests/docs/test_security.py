"""docs/security.md has every right of every account, and none that an account has not."""

import pytest

from api.constants import CONTROLLERS_NAME, SCHEDULER_NAME, WEBHOOKS_NAME
from install.manifests import load
from install.rights import granted_to
from tests.docs.rights_tables import TABLES, rights


@pytest.mark.parametrize("account", [SCHEDULER_NAME, CONTROLLERS_NAME, WEBHOOKS_NAME])
def test_the_table_of_an_account_has_exactly_its_rights(account: str) -> None:
    assert rights(TABLES[account]) == granted_to(account, load("rbac"))
