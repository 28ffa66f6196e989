"""A script is one line: what it says, what it cannot say, and that it says the same again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.faults.__main__ import main
from verify.faults.asked import Asked, asked
from verify.faults.chance import random_script
from verify.faults.script import EVER, Progress, Rule, Script, ScriptError, parse


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("drop @ create pods/binding", Rule("drop", (), "create", "pods/binding")),
        ("drop@create jobs #3", Rule("drop", (), "create", "jobs", 3, 3)),
        ("half-open=3 @ watch pods #1-2 by tutti-x", Rule("half-open", ("3",), "watch", "pods", 1, 2, "tutti-x")),
        ("answer=429,1.5 @ * * #*", Rule("answer", ("429", "1.5"), "*", "*", 1, EVER)),
        ("behind=podgroups @ watch pods", Rule("behind", ("podgroups",), "watch", "pods")),
    ],
)
def test_a_line_is_a_script(line: str, rule: Rule) -> None:
    assert parse(line) == Script((rule,))
    assert parse(f" {line} ;; drop @ * *; ") == Script((rule, Rule("drop")))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("burn @ create pods", "there is no fault 'burn'"),
        ("drop create pods", "is no rule"),
        ("drop=1 @ create pods", "it needs no value, not 1"),
        ("delay @ create pods", "it needs seconds, not nothing"),
        ("delay=soon @ create pods", "'soon' is no seconds"),
        ("answer=418 @ create pods", "'418' is no code"),
        ("cut=1 @ create pods", "happens to watches"),
        ("drop @ create pods #0", "counted from 1"),
        ("drop @ create pods #3-2", "counted from 1"),
    ],
)
def test_what_no_proxy_can_do_is_refused_in_one_line(line: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ScriptError, match=told):
        parse(line)
    assert main(["--server", "http://127.0.0.1:9", "--script", line]) == 2
    printed = capsys.readouterr().err
    assert told in printed
    assert printed.count("\n") == 1


@given(seed=st.integers(0, 10**6), rules=st.integers(0, 5))
def test_a_script_by_chance_is_repeated_by_its_seed_and_by_its_line(seed: int, rules: int) -> None:
    script = random_script(seed, rules)
    assert len(script.rules) == rules
    assert random_script(seed, rules) == script
    assert parse(str(script)) == script


def test_each_rule_counts_for_itself_and_the_first_one_that_fits_happens() -> None:
    progress = Progress(parse("drop @ create pods #2; answer=500 @ create * #2-3"))
    made = Asked("create", "pods", "ns", "", "x")
    found = [progress.rule_for(made) for _ in range(4)]
    assert [each.fault if each else None for each in found] == [None, "drop", "answer", None]


@pytest.mark.parametrize(
    ("method", "path", "query", "said"),
    [
        ("GET", "/api/v1/pods", "", ("list", "pods", "", "")),
        ("GET", "/api/v1/namespaces/ns/pods", "watch=1&resourceVersion=5", ("watch", "pods", "ns", "")),
        ("GET", "/api/v1/namespaces/ns/pods/p", "", ("get", "pods", "ns", "p")),
        ("POST", "/api/v1/namespaces/ns/pods/p/binding", "", ("create", "pods/binding", "ns", "p")),
        ("PATCH", "/apis/batch/v1/namespaces/ns/jobs/j", "", ("patch", "jobs", "ns", "j")),
        ("PATCH", "/apis/g/v1/namespaces/ns/podgroups/g/status", "", ("patch", "podgroups/status", "ns", "g")),
        ("PUT", "/apis/coordination.k8s.io/v1/namespaces/ns/leases/l", "", ("update", "leases", "ns", "l")),
        ("DELETE", "/api/v1/namespaces/ns/pods", "", ("deletecollection", "pods", "ns", "")),
        ("DELETE", "/api/v1/nodes/n", "", ("delete", "nodes", "", "n")),
        ("GET", "/api/v1/namespaces/ns", "", ("get", "namespaces", "", "ns")),
        ("PUT", "/api/v1/namespaces/ns/finalize", "", ("update", "namespaces/finalize", "", "ns")),
        ("GET", "/readyz", "", ("get", "", "", "")),
        ("GET", "/apis/batch/v1", "", ("get", "", "", "")),
    ],
)
def test_a_path_names_verb_and_object(method: str, path: str, query: str, said: tuple[str, ...]) -> None:
    found = asked(method, path, query, "agent")
    assert (found.verb, found.resource, found.namespace, found.name) == said


def test_who_takes_over_from_a_process_is_the_same_component() -> None:
    agents = ("tutti-scheduler/host_1_a", "tutti-scheduler/host_2_b", "tutti-webhooks")
    components = [asked("GET", "/api/v1/pods", "watch=1", agent).component for agent in agents]
    assert components == ["tutti-scheduler", "tutti-scheduler", "tutti-webhooks"]
