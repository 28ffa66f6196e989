"""The manifests that the demo plays."""

from pathlib import Path

import pytest

from api.errors import ConfigurationError
from localcluster.demo.jobs import SAMPLE_SECONDS, fitting_gang, load_manifests, timed, waiting_gang
from localcluster.demo.walkthrough import SAMPLES
from localcluster.lifecycle import RUN_SECONDS


def test_the_samples_are_loaded_and_told_when_to_end() -> None:
    found = load_manifests(SAMPLES)
    assert {each["kind"] for each in found} >= {"Job", "PodGroup", "Pod"}
    pods = [each for each in found if each["kind"] == "Pod"]
    templates = [each["spec"]["template"] for each in found if each["kind"] == "Job"]
    assert {each["metadata"]["annotations"][RUN_SECONDS] for each in pods + templates} == {SAMPLE_SECONDS}


def test_an_end_that_a_manifest_says_itself_is_kept() -> None:
    gang = fitting_gang(2)
    assert timed(gang) == gang


def test_the_template_of_a_cron_job_gets_an_end_too() -> None:
    template: dict[str, object] = {"spec": {}}
    cron = {"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": template}}}}
    found = timed(cron)["spec"]["jobTemplate"]["spec"]["template"]
    assert found["metadata"]["annotations"] == {RUN_SECONDS: SAMPLE_SECONDS}
    assert "metadata" not in template


def test_lists_are_unpacked_and_other_documents_left_out(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("kind: List\nitems: [{kind: Pod, metadata: {name: x}}]\n---\njust text\n---\n")
    (tmp_path / "kustomization.yaml").write_text("kind: Kustomization\n")
    assert [each["kind"] for each in load_manifests(tmp_path)] == ["Pod"]


def test_what_cannot_be_read_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is no folder"):
        load_manifests(tmp_path / "none")
    (tmp_path / "bad.yaml").write_text("a: [")
    with pytest.raises(ConfigurationError, match=r"bad\.yaml cannot be read as YAML"):
        load_manifests(tmp_path)


def test_the_gang_that_waits_has_more_members_than_fit_on_the_nodes() -> None:
    assert waiting_gang(5)["spec"]["parallelism"] == 5
