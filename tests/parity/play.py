"""Sends the steps of a script to a server and notes its answers."""

import copy
import itertools
import json
import re
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3
import yaml

from tests.parity.normal import normal
from tests.parity.steps import Script, Step
from verify.shared_data import SHARED_DATA

Answer = dict[str, Any]

REPOSITORY = Path(__file__).resolve().parents[2]
FOREIGN = SHARED_DATA / "crds"
WATCHES_AT_ONCE = 16
TIMEOUT_SECONDS = 20.0
SETTLE_SECONDS = 15.0
PAUSE_SECONDS = 0.1
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_KEPT = re.compile(r"\$\{(\w+)\}")


def _compact(value: Any) -> bytes:
    """JSON without blanks, as the usual clients send it: a revision is kept byte for byte."""
    return json.dumps(value, separators=(",", ":")).encode()


class _Kept:
    """What earlier answers of a script are remembered for."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.answers: dict[str, Any] = {}

    def note(self, step: Step, value: Any) -> None:
        """Remember of this answer what the step says."""
        self.texts |= {name: str(at(value, path)) for name, path in step.keep.items()}
        if step.keep_as:
            self.answers[step.keep_as] = value


class Server:
    """One API server to ask."""

    def __init__(self, url: str, ca: Path, tokens: dict[str, str], kubeconfig: Path) -> None:
        self.kubeconfig = kubeconfig
        self._url = url
        self._tokens = tokens
        self._pool = urllib3.PoolManager(ca_certs=str(ca), retries=False, maxsize=WATCHES_AT_ONCE)

    def close(self) -> None:
        """Closes the kept connections."""
        self._pool.clear()

    def ask(self, step: Step) -> tuple[int, urllib3.HTTPHeaderDict, bytes]:
        """Code, headers and body of the answer to a step whose placeholders are filled."""
        body = step.body if step.body is None or isinstance(step.body, bytes) else _compact(step.body)
        headers = {"Accept": step.accept, "User-Agent": "parity"}
        if body is not None:
            headers["Content-Type"] = step.content_type
        if step.user:
            headers["Authorization"] = f"Bearer {self._tokens.get(step.user, step.user)}"
        query = "?" + urlencode(step.query) if step.query else ""
        url = self._url + step.path + query
        answer = self._pool.request(
            step.method, url, body=body, headers=headers, timeout=TIMEOUT_SECONDS, redirect=False
        )
        return answer.status, answer.headers, answer.data

    def play(self, script: Script) -> dict[str, Answer]:
        """The normalised answers to a script's steps, by name."""
        self._prepare(script)
        try:
            return self._played(script)
        finally:
            self._remove(script)

    def _played(self, script: Script) -> dict[str, Answer]:
        kept = _Kept()
        answers: dict[str, Answer] = {}
        with ThreadPoolExecutor(WATCHES_AT_ONCE) as threads:
            for are_watches, steps in itertools.groupby(script.steps, key=lambda step: step.watch):
                filled = (_filled(step, script.namespace, kept) for step in steps)
                # Watches change nothing and end by the clock: those that follow each other are held together.
                found = threads.map(self._noted, filled) if are_watches else map(self._noted, filled)
                for step, value, answer in found:
                    kept.note(step, value)
                    assert step.name not in answers, f"{script.name}: there are two steps {step.name!r}"
                    if step.compare:
                        answers[step.name] = answer
                    else:
                        assert answer["code"] < 300, f"{script.name}/{step.name}: {answer}"
        return answers

    def _noted(self, step: Step) -> tuple[Step, Any, Answer]:
        """The step, what it was answered, and what of that is compared."""
        code, headers, body = self._settled(step)
        value = _decoded(body, step)
        return step, value, _answer(code, headers, _picked(value, step))

    def define(self, files: Iterable[Path]) -> None:
        """Creates the definitions of custom resources in these files, and waits until they are served."""
        made = list(_read(files))
        for name, path, body in made:
            self._make(name, path, body)
        for name, path, _ in made:
            self._settled(Step(name, "GET", f"{path}/{name}", until=("status.conditions.1.status", "True")))

    def _prepare(self, script: Script) -> None:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": script.namespace}}
        self._make(script.namespace, "/api/v1/namespaces", namespace)
        self.define(FOREIGN / name for name in script.foreign)

    def _make(self, name: str, path: str, body: Any) -> None:
        code, _, answer = self.ask(Step(name, "POST", path, body))
        assert code in {201, 409}, f"{name}: {code} {answer[:500]!r}"

    def _remove(self, script: Script) -> None:
        """Takes foreign definitions away again: other scripts use short names that they have too."""
        groups = set()
        for name, path, body in _read(FOREIGN / name for name in script.foreign):
            code, _, answer = self.ask(Step(name, "DELETE", f"{path}/{name}"))
            assert code == 200, f"{script.name}: {name}: {code} {answer[:500]!r}"
            groups.add(body["spec"]["group"])
        for group in groups:
            self._settled(Step(group, "GET", f"/apis/{group}", until=("code", 404)))

    def _settled(self, step: Step) -> tuple[int, urllib3.HTTPHeaderDict, bytes]:
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            code, headers, body = self.ask(step)
            if step.until is None:
                return code, headers, body
            path, wanted = step.until
            found = code if path == "code" else at(_decoded(body, step), path)
            if found == wanted:
                return code, headers, body
            assert time.monotonic() < deadline, f"{step.name}: {path} is {found!r} and not {wanted!r}: {body[:500]!r}"
            time.sleep(PAUSE_SECONDS)


def missing_files(script: Script) -> list[str]:
    """The foreign definitions that are not there."""
    return [name for name in script.foreign if not (FOREIGN / name).is_file()]


def _read(files: Iterable[Path]) -> Iterator[tuple[str, str, Any]]:
    """Names, collections and bodies of the manifests in some files."""
    for file in files:
        for each in filter(None, yaml.load_all(file.read_text(), Loader=_LOADER)):
            plural = each["kind"].lower().removesuffix("y") + ("ies" if each["kind"].endswith("y") else "s")
            yield each["metadata"]["name"], f"/apis/{each['apiVersion']}/{plural}", each


def at(value: Any, path: str) -> Any:
    """What lies at a path such as `items.0.metadata.uid`; None when nothing does."""
    for key in path.split("."):
        if isinstance(value, list):
            value = value[int(key)] if key.isdigit() and int(key) < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def _filled(step: Step, namespace: str, kept: _Kept) -> Step:
    def fill(value: Any) -> Any:
        if isinstance(value, str):
            return _KEPT.sub(lambda match: kept.texts[match[1]], value.replace("{ns}", namespace))
        if isinstance(value, dict):
            return {key: fill(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [fill(inner) for inner in value]
        return value

    fields = {name: getattr(step, name) for name in Step.__slots__}
    body = fill(step.body)
    if step.onto:
        body = merged(kept.answers[step.onto], body)
    filled = {"path": fill(step.path), "query": fill(dict(step.query)), "user": fill(step.user), "body": body}
    return Step(**fields | filled)


def merged(whole: Any, change: Any) -> Any:
    """`whole` with `change` put into it as a merge patch would."""
    if not (isinstance(whole, dict) and isinstance(change, dict)):
        return change
    changed = {key: merged(whole.get(key), value) for key, value in change.items() if value is not None}
    return {key: value for key, value in whole.items() if key not in change} | changed


def _decoded(body: bytes, step: Step) -> Any:
    if step.watch:
        events = [json.loads(line) for line in body.splitlines() if line.strip()]
        return [each for each in events if each.get("type") != "BOOKMARK"]
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")


def _picked(value: Any, step: Step) -> Any:
    """The value with only those entries of a list that the step compares."""
    if step.only is None:
        return value
    path, key, names = step.only
    value = copy.deepcopy(value)
    entries = at(value, path)
    entries[:] = [each for each in entries if at(each, key) in names]
    return value


def _answer(code: int, headers: urllib3.HTTPHeaderDict, value: Any) -> Answer:
    answer: Answer = {"code": code, "type": headers.get("Content-Type", ""), "body": normal(value)}
    if warnings := headers.getlist("Warning"):
        answer["warnings"] = list(warnings)
    return answer
