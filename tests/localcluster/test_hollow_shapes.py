"""The command line's short forms of nodes."""

import pytest

from api.errors import ConfigurationError
from localcluster.nodes import parse_arguments
from localcluster.shapes import HOLLOW_LABEL, NodeShape, node_manifest, parse_labels, parse_resources, parse_taints

NOW = "2026-01-02T03:04:05Z"


def test_resources_are_read_and_a_number_of_pods_is_added() -> None:
    assert parse_resources("cpu=8,memory=32Gi,nvidia.com/gpu=8") == {
        "pods": "110",
        "cpu": "8",
        "memory": "32Gi",
        "nvidia.com/gpu": "8",
    }
    assert parse_resources("pods=3") == {"pods": "3"}


@pytest.mark.parametrize("text", ["cpu", "=8", "cpu=", "cpu=many", "cpu=1e1000000"])
def test_bad_resources_are_named(text: str) -> None:
    with pytest.raises(ConfigurationError, match="--shape"):
        parse_resources(text)


def test_labels_may_have_empty_values() -> None:
    assert parse_labels(["zone=a", "spot="]) == {"zone": "a", "spot": ""}


@pytest.mark.parametrize("text", ["zone", "=a"])
def test_bad_labels_are_named(text: str) -> None:
    with pytest.raises(ConfigurationError, match="--label"):
        parse_labels([text])


def test_taints_have_a_key_an_effect_and_maybe_a_value() -> None:
    assert parse_taints(["gpu=yes:NoSchedule", "spot:NoExecute"]) == (
        {"key": "gpu", "effect": "NoSchedule", "value": "yes"},
        {"key": "spot", "effect": "NoExecute"},
    )


@pytest.mark.parametrize("text", ["gpu", "gpu:Sometimes", ":NoSchedule", "gpu=yes"])
def test_bad_taints_are_named(text: str) -> None:
    with pytest.raises(ConfigurationError, match="--taint"):
        parse_taints([text])


def test_a_node_is_ready_marked_as_hollow_and_offers_all_it_has() -> None:
    shape = NodeShape({"cpu": "8"}, labels={"rack": "r1"}, taints=({"key": "gpu", "effect": "NoSchedule"},))
    node = node_manifest("n-0", shape, now=NOW)
    assert node["metadata"]["labels"] == {"kubernetes.io/hostname": "n-0", "rack": "r1", HOLLOW_LABEL: "true"}
    assert node["status"]["allocatable"] == node["status"]["capacity"] == {"cpu": "8"}
    assert [(c["type"], c["status"]) for c in node["status"]["conditions"]] == [("Ready", "True")]
    assert node["spec"]["taints"] == [{"key": "gpu", "effect": "NoSchedule"}]


def test_a_user_may_not_hide_that_a_node_is_hollow() -> None:
    shape = NodeShape({"cpu": "1"}, labels={HOLLOW_LABEL: "false"})
    assert node_manifest("n", shape, now=NOW)["metadata"]["labels"][HOLLOW_LABEL] == "true"


def test_the_command_line_has_defaults_for_everything() -> None:
    arguments = parse_arguments([])
    assert (arguments.nodes, arguments.prefix, arguments.label, arguments.taint) == (1, "hollow", [], [])
