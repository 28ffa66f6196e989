"""What a selector sees of a device, how often it is asked, and what it may cost."""

import time

import pytest

from api.device_selectors.rewrite import SelectorInvalid, rewrite
from api.devices import Device
from scheduler.cache.devices.selectors import Contents, SelectorError, Selectors, compile_selector
from tests.devices.build import Json, device
from tests.devices.upstream import typed


def matches(expression: str, manifest: Json, driver: str = "d") -> bool:
    return compile_selector(expression).matches(Contents().of(driver, typed(manifest, Device)))


def gpu(**more: object) -> Json:
    return {**device("g0", model="a100", cores=8), "capacity": {"memory": {"value": "80Gi"}}, **more}


@pytest.mark.parametrize(
    "expression",
    [
        'device.driver == "d"',
        'device.attributes["d"].model == "a100"',
        'device.attributes["d"]["model"].startsWith("a")',
        "device.attributes.d.cores > 4",
        "device.attributes . d . cores == 8.0",
        'has(device.attributes["d"].model) && !has(device.attributes["d"].other)',
        "has(device.attributes.d)",
        '!("other" in device.attributes) && !("x" in device.attributes["other"])',
        'device.attributes["other"].?x.orValue(true)',
        'device.attributes[?"d"].?model.orValue("") == "a100"',
        'device.capacity["d"].memory == quantity("81920Mi")',
        'device.capacity["d"].memory.compareTo(quantity("80G")) > 0',
        'quantity("1Gi").add(quantity("1Gi")).sub(1).isLessThan(quantity("2Gi"))',
        'quantity("9223372036854775808").isGreaterThan(quantity("9223372036854775807"))',
        'quantity("3").isInteger() && quantity("3").asInteger() == 3 && quantity("500m").asApproximateFloat() == 0.5',
        'semver("1.2.3-rc.1").isLessThan(semver("1.2.3")) && semver("1.2.3+x") == semver("1.2.3")',
        'semver("v1.02", true).minor() == 2 && !isSemver("v1.2")',
        'device.attributes["d"].model.find("[0-9]+") == "100" && "a1b2".findAll("[a-z]([0-9])").size() == 2',
        'cel.bind(d, device.attributes["d"], d.model == "a100" && d.cores == 8)',
        '["a100", "h100"].exists(m, m == device.attributes["d"].model)',
        '[1, 3, 2].max() == 3 && [1, 2].isSorted() && ["a", "b"].indexOf("b") == 1 && [1, 2].sum() == 3',
        'sets.contains(["a100", "b"], [device.attributes["d"].model])',
        'device.attributes["d"].missing == 1 || device.driver == "d"',
        'device.attributes["d"].model.includes("a100")',
        '"device.attributes[x]" == r"device.attributes[x]"',
        'device.attributes["d"].model != "h100" // device.foo is not asked for',
    ],
)
def test_expressions_that_are_true_of_a_device(expression: str) -> None:
    assert matches(expression, gpu())


def test_names_without_a_domain_are_the_drivers_and_qualified_ones_win() -> None:
    manifest = {"name": "g", "attributes": {"x": {"int": 1}, "d/x": {"int": 2}, "e.org/x": {"int": 3}}}
    assert matches('device.attributes["d"].x == 2 && device.attributes["e.org"].x == 3', manifest)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("device.foo == 1", "compilation failed: ERROR: <input>:1:7: undefined field 'foo'"),
        ("1 +", "Syntax error"),
        ("nobody == 1", "undeclared reference to 'nobody'"),
        ("1", "must evaluate to bool or the unknown type, not int"),
        ("[1]", "must evaluate to bool or the unknown type, not list(int)"),
        ('ip("::1") == ip("::1")', "undeclared reference to 'ip'"),
    ],
)
def test_what_cannot_be_compiled_says_why(expression: str, words: str) -> None:
    with pytest.raises(SelectorInvalid) as caught:
        compile_selector(expression)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ('device.attributes["d"].missing == 1', "no such key: missing. consider using CEL optional chaining"),
        ('device.attributes["d"].model', "CEL result of type string could not be converted to bool"),
        ('device.attributes["d"].model.isGreaterThan(quantity("1"))', "no such overload"),
        ('quantity("much") == quantity("1")', "is not a quantity"),
        ('quantity("1.5").asInteger() == 1', "cannot convert value to integer"),
        ("1 / 0 == 1", "divide by zero"),
    ],
)
def test_what_has_no_answer_for_a_device_says_why(expression: str, words: str) -> None:
    with pytest.raises(SelectorError) as caught:
        matches(expression, gpu())
    assert words in str(caught.value)


def test_a_device_whose_version_cannot_be_read_has_no_answer() -> None:
    with pytest.raises(SelectorError, match="attribute v: parse semantic version"):
        matches("true", {"name": "g", "attributes": {"v": {"version": "one"}}})


def test_a_selector_is_asked_once_of_devices_that_are_equal_in_what_it_sees() -> None:
    contents, selectors = Contents(), Selectors()
    selector = selectors.get('device.attributes["d"].model == "a100"')
    for number in range(100):
        assert selector.matches(contents.of("d", typed({**gpu(), "name": f"g{number}"}, Device)))
    assert selector.evaluations == 1
    assert not selector.matches(contents.of("d", typed(device("g", model="h100"), Device)))
    assert selector.evaluations == 2
    assert selectors.get('device.attributes["d"].model == "a100"') is selector


def test_an_invalid_expression_is_compiled_once_and_refused_each_time() -> None:
    selectors = Selectors()
    for _ in range(2):
        with pytest.raises(SelectorInvalid):
            selectors.get("1 +")
    assert len(selectors) == 1


def test_an_expression_that_goes_round_too_often_is_stopped() -> None:
    rounds = "true"
    for number in range(7):
        rounds = (
            f"[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(x{number}, {rounds} && x{number} < device.attributes.d.cores + 9)"
        )
    before = time.monotonic()
    with pytest.raises(SelectorError, match="actual cost limit exceeded"):
        matches(rounds, gpu())
    assert time.monotonic() - before < 5


def test_only_the_look_up_of_a_domain_is_rewritten() -> None:
    assert rewrite('device.attributes["a"]["b"]') == '__domain(device.attributes, "a")["b"]'
    assert rewrite("device.capacity.d.x") == '__domain(device.capacity, "d").x'
    assert rewrite('device.attributes.exists(x, x == "a")') == 'device.attributes.exists(x, x == "a")'
    assert rewrite("{'a': [1]}['a'][0] == x.device.foo") == "{'a': [1]}['a'][0] == x.device.foo"
