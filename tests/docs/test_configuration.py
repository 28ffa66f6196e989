"""docs/configuration.md names every setting of every process, with what it may be and what it is good for."""

import pytest
from pydantic import BaseModel

from hack.settings_docs.document import FILE, classes, rendered
from hack.settings_docs.fields import docstrings, settings
from kube.process.settings import StrictSettings
from scheduler.profiles import ProfileLimits, ProfileSettings, ResourcesFit, ShapePoint
from scheduler.settings import SchedulerSettings


def test_the_document_is_current() -> None:
    assert FILE.read_text(encoding="utf-8") == rendered(), "run `make settings-docs`"


@pytest.mark.parametrize("cls", classes(), ids=lambda cls: cls.__name__)
def test_every_setting_says_what_it_is_good_for(cls: type[BaseModel]) -> None:
    assert [name for name, text in docstrings(cls).items() if not text] == []


@pytest.mark.parametrize("cls", classes(), ids=lambda cls: cls.__name__)
def test_every_setting_says_what_it_may_be(cls: type[BaseModel]) -> None:
    assert [each.name for each in settings(cls) if each.values.startswith("any")] == []


def test_profiles_are_told_with_all_that_is_inside_them() -> None:
    assert {ProfileSettings, ResourcesFit, ShapePoint, ProfileLimits} <= set(classes())


def test_no_class_of_settings_is_left_out() -> None:
    """Whoever adds one puts it where a process reads it, and then it is here by itself."""
    assert {cls for cls in _subclasses(StrictSettings) if _is_ours(cls)} == set(classes())


def test_a_row_names_the_bounds_and_the_default() -> None:
    (row,) = (each for each in settings(SchedulerSettings) if each.name == "bind_concurrency")
    assert (row.values, row.default) == ("whole number, at least 1, at most 512", "`32`")


def _subclasses(cls: type[BaseModel]) -> set[type[BaseModel]]:
    direct = set(cls.__subclasses__())
    return direct | {inner for each in direct for inner in _subclasses(each)}


def _is_ours(cls: type[BaseModel]) -> bool:
    return not cls.__module__.startswith("tests.")
