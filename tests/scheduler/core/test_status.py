"""Statuses: when two name the same obstacles, and what people are told."""

from api.node import Taint
from scheduler.plugins.messages import message
from scheduler.plugins.status import Code, Diagnosis, PodGroupDiagnosis, Status
from scheduler.plugins.taint_toleration import refusal
from scheduler.plugins.volume_binding import REASON_IMMEDIATE

CPU = Status(Code.UNSCHEDULABLE, "Insufficient cpu", plugin="NodeResourcesFit")
MEMORY = Status(Code.UNSCHEDULABLE, "Insufficient memory", plugin="NodeResourcesFit")


def _of_pod(*refused: tuple[Status, int]) -> Status:
    return Status(Code.UNSCHEDULABLE, diagnosis=Diagnosis(9, dict(refused)))


def _of_group(**more: int | str) -> Status:
    found = {"need": 4, "placed": 1, "pending": 4, "scheduled": 0, **more}
    diagnosis = PodGroupDiagnosis(pod=Diagnosis(9, {CPU: 9}), **found)  # type: ignore[arg-type]
    return Status(Code.UNSCHEDULABLE, diagnosis=diagnosis)


def test_counts_alone_make_no_other_obstacles() -> None:
    assert _of_pod((CPU, 7), (MEMORY, 2)).obstacles == _of_pod((MEMORY, 1), (CPU, 8)).obstacles
    assert _of_pod((CPU, 7)).obstacles != _of_pod((MEMORY, 7)).obstacles
    assert _of_group(placed=1).obstacles == _of_group(placed=2).obstacles
    assert _of_group(best_domain="a").obstacles != _of_group(best_domain="b").obstacles
    waiting = [Status(Code.WAITING_FOR_MEMBERS, "{} of {} exist", (known, 4)) for known in (1, 2)]
    assert waiting[0].obstacles == waiting[1].obstacles


def test_other_names_codes_and_causes_are_other_obstacles() -> None:
    named = [Status(Code.ERROR, "{} allows {}", (name, 2)) for name in ("a", "b")]
    assert named[0].obstacles != named[1].obstacles
    assert Status(Code.ERROR, "x").obstacles != Status(Code.UNSCHEDULABLE, "x").obstacles
    gave_up = [Status(Code.TIMED_OUT, "gave up", cause=cause) for cause in (_of_pod((CPU, 9)), _of_pod((MEMORY, 9)))]
    assert gave_up[0].obstacles != gave_up[1].obstacles


def test_text_of_others_is_told_as_it_is() -> None:
    taint = Taint(key="{}", value="{0}", effect="NoSchedule")
    assert (
        message(_of_pod((refusal(taint), 9))) == "0/9 nodes are available: 9 node(s) had untolerated taint {{}: {0}}."
    )
    profile = Status(Code.ERROR, "the profile {} allows {}", ("{x}", 2))
    assert message(profile) == "the profile {x} allows 2"


def test_what_rules_out_a_pod_everywhere_is_told_without_a_count() -> None:
    status = Status(Code.UNSCHEDULABLE, diagnosis=Diagnosis(9, pre_filter=REASON_IMMEDIATE))
    assert message(status) == "0/9 nodes are available: pod has unbound immediate PersistentVolumeClaims."


def test_a_cause_follows_what_came_of_it() -> None:
    status = Status(Code.TIMED_OUT, "gave up after {}", ("2 min",), cause=_of_pod((CPU, 9)))
    assert message(status) == "gave up after 2 min: 0/9 nodes are available: 9 Insufficient cpu."
