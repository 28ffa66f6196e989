"""The command line of the stand-ins, and what a namespace says while it is emptied."""

import pytest

from api.errors import ConfigurationError
from localcluster.controllers.main import parse_arguments
from localcluster.controllers.namespaces import conditions
from localcluster.controllers.settings import NAMES, parse_names


def test_all_stand_ins_run_unless_some_are_named() -> None:
    assert parse_names(parse_arguments([]).only) == NAMES
    assert parse_names("job, garbage") == ("job", "garbage")


def test_a_stand_in_nobody_knows_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ConfigurationError, match=r"unknown: jobs; there are job, statefulset"):
        parse_names("jobs,garbage")


def test_a_namespace_says_what_is_left_in_it_and_what_holds_that() -> None:
    held = {"metadata": {"finalizers": ["x.io/f"]}}
    found = conditions({"pods.": [held, held], "jobs.batch": [{"metadata": {}}]}, "now")
    assert [each["message"] for each in found] == [
        "Some resources are remaining: jobs.batch has 1 resource instances, pods. has 2 resource instances",
        "Some content in the namespace has finalizers remaining: x.io/f in 2 resource instances",
    ]
    assert {(each["status"], each["lastTransitionTime"]) for each in found} == {("True", "now")}
