"""Settings: defaults, file, command line; and every mistake is one line that names it."""

from pathlib import Path

import pytest

from api.errors import ConfigurationError
from kube.process.settings import ProcessSettings, StrictSettings, load_settings


class Inner(StrictSettings):
    seconds: float = 1.0


class Outer(ProcessSettings):
    inner: Inner = Inner()
    workers: int = 4


def written(folder: Path, text: str) -> str:
    path = folder / "settings.yaml"
    path.write_text(text)
    return str(path)


def test_defaults_without_a_file() -> None:
    settings = load_settings(Outer, None)
    assert (settings.system_namespace, settings.group_api, settings.workers) == ("tutti-system", "auto", 4)
    assert settings.identity


def test_no_two_processes_share_an_identity() -> None:
    assert load_settings(Outer, None).identity != load_settings(Outer, None).identity


def test_the_file_wins_over_defaults_and_the_command_line_over_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, "workers: 7\nlog_format: json\ninner: {seconds: 2.5}\n")
    settings = load_settings(Outer, file, log_format="text", metrics_address=None)
    assert (settings.workers, settings.log_format, settings.inner.seconds) == (7, "text", 2.5)
    assert settings.metrics_address == ":8080"


def test_an_empty_file_is_no_settings(tmp_path: Path) -> None:
    assert load_settings(Outer, written(tmp_path, "# nothing\n")).workers == 4


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("wrokers: 7", "unknown setting 'wrokers'"),
        ("inner: {second: 7}", "unknown setting 'inner.second'"),
        ("workers: many", "setting 'workers': "),
        ("group_api: mine", "setting 'group_api': .*built-in"),
        ("system_namespace: ''", "setting 'system_namespace': "),
        ("- a", "must be a mapping"),
        ("a: [", "is no YAML"),
        ("1: 2", "unknown setting '1'"),
    ],
)
def test_a_mistake_in_the_file_is_one_line(tmp_path: Path, text: str, says: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(ConfigurationError, match=says) as caught:
        load_settings(Outer, file)
    assert "\n" not in str(caught.value)
    assert file in str(caught.value)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"unknown setting 'a'; unknown setting 'b'"):
        load_settings(Outer, written(tmp_path, "a: 1\nb: 2\n"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot read the settings file .*nowhere: No such file"):
        load_settings(Outer, str(tmp_path / "nowhere"))


def test_settings_do_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_settings(Outer, None).workers = 3  # type: ignore[misc]
