"""Names, byte for byte those of the stock Job controller; the vectors with UIDs were read from a real 1.37 server."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.errors import InvalidName
from api.names import check_label_key, fnv1a_32, pod_group_name, safe_encode, template_name, workload_name

UID = "eeae5573-e84e-4593-b879-93180f6eb57f"
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")

labels = st.from_regex(re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"), fullmatch=True)
names = st.lists(labels, min_size=1, max_size=8).map(".".join).filter(lambda name: len(name) <= 253)
uids = st.uuids().map(str)


@pytest.mark.parametrize(
    ("data", "digest"), [(b"", 0x811C9DC5), (b"a", 0xE40C292C), (b"foobar", 0xBF9CF968)], ids=["empty", "a", "foobar"]
)
def test_the_hash_is_fnv_1a(data: bytes, digest: int) -> None:
    assert fnv1a_32(data) == digest


def test_encoding_uses_each_byte_modulo_the_alphabet() -> None:
    assert safe_encode("0123456789") == "456789bcdf"
    assert safe_encode("é") == "jk"


@pytest.mark.parametrize(
    ("name", "uid", "workload", "group"),
    [
        ("b", UID, "b-588f6f846", "b-588f6f846-b-pgt-0-59dfb7b548"),
        (
            "train-bert",
            "0c707b9a-c211-417d-abe2-522c41c0b91f",
            "train-bert-57c676bb45",
            "train-bert-57c676bb45-train-bert-pgt-0-6c7859b96d",
        ),
        (
            "x" * 57,
            "05e099ec-4b4e-48df-8621-cb97e743916e",
            "x" * 57 + "-7946d47b",
            "x" * 57 + "-7946d47b-" + "x" * 57 + "-pgt-0-65f579cb56",
        ),
    ],
    ids=["b", "train-bert", "57 letters"],
)
def test_names_are_those_a_real_server_gave(name: str, uid: str, workload: str, group: str) -> None:
    assert workload_name(name, uid) == workload
    assert pod_group_name(workload, template_name(name)) == group


def test_a_group_name_is_made_of_both_names_and_a_hash() -> None:
    assert pod_group_name("b-5bb96744b5", "b-pgt-0") == "b-5bb96744b5-b-pgt-0-7cfffc5757"


def test_a_short_job_name_gives_the_upstream_template_name() -> None:
    assert template_name("b") == "b-pgt-0"
    assert template_name("x" * 57) == "x" * 57 + "-pgt-0"


@pytest.mark.parametrize("name", ["y" * 58, "a.b", "x" * 253, "a." * 100 + "a", "x" * 40 + "-" + "x" * 40])
def test_a_long_or_dotted_job_name_gives_a_template_name_that_is_a_label(name: str) -> None:
    found = template_name(name)
    assert LABEL.fullmatch(found)
    assert len(found) <= 63
    assert found.endswith("-pgt-0")


def test_dotted_and_long_job_names_that_look_alike_get_different_templates() -> None:
    alike = ["a.b", "a-b", "y" * 58, "y" * 59, "y" * 58 + ".z"]
    assert len({template_name(name) for name in alike}) == len(alike)


@given(names, uids)
def test_every_name_is_legal_bounded_and_deterministic(name: str, uid: str) -> None:
    workload, template = workload_name(name, uid), template_name(name)
    group = pod_group_name(workload, template)
    for found in (workload, group):
        assert len(found) <= 253
        assert SUBDOMAIN.fullmatch(found)
    assert LABEL.fullmatch(template)
    assert len(template) <= 63
    assert (workload, template, group) == (
        workload_name(name, uid),
        template_name(name),
        pod_group_name(workload, template),
    )


@given(names, uids, uids)
def test_different_owners_get_different_workloads(name: str, one: str, other: str) -> None:
    assert (workload_name(name, one) == workload_name(name, other)) == (one == other)


@given(
    st.text(st.sampled_from("ab-"), min_size=1, max_size=253), st.text(st.sampled_from("xy"), min_size=1, max_size=253)
)
def test_a_group_name_never_exceeds_the_limit(workload: str, template: str) -> None:
    assert len(pod_group_name(workload, template)) <= 253


def test_a_long_workload_name_is_cut_and_a_short_template_is_not() -> None:
    found = pod_group_name("w" * 253, "t-pgt-0")
    assert len(found) == 253
    assert "-t-pgt-0-" in found


def test_two_long_names_share_the_room() -> None:
    found = pod_group_name("w" * 250, "t" * 250)
    assert len(found) == 253
    assert found.count("w") - found.count("t") in (0, 1)


def test_a_name_that_would_be_cut_behind_a_dot_stays_legal() -> None:
    names_with_dots = ["a" * n + "." + "b" * (252 - n) for n in range(236, 246)]
    assert all(SUBDOMAIN.fullmatch(workload_name(name, UID)) for name in names_with_dots)


@pytest.mark.parametrize(
    "key",
    ["zone", "topology.kubernetes.io/rack", "a/b", "A_b.c-d", "example.com/" + "x" * 63, "kubernetes.io/hostname"],
)
def test_label_keys_are_accepted(key: str) -> None:
    assert check_label_key(key) == key


@pytest.mark.parametrize(
    "key",
    ["", "/", "a/", "/a", "a b", "a/b/c", "-a", "a-", "x" * 64, "Example.com/a", "x" * 254 + "/a", "é", "a\n", ".a/b"],
)
def test_what_is_no_label_key_is_refused_with_its_field(key: str) -> None:
    with pytest.raises(InvalidName, match=r"^f: ") as refused:
        check_label_key(key, field="f")
    assert refused.value.field == "f"
