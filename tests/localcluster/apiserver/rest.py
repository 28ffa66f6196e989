"""A bare client of the server under test: the status code and the JSON, whatever they are."""

import asyncio
import io
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import orjson

Object = dict[str, Any]
PODS = "/api/v1/namespaces/default/pods"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"


@dataclass
class Answer:
    code: int
    body: Object
    headers: Any

    @property
    def message(self) -> str:
        return str(self.body.get("message", ""))

    @property
    def fields(self) -> list[str]:
        return [cause["field"] for cause in self.body["details"]["causes"]]


class Rest:
    def __init__(self, url: str, ca: Path, token: str) -> None:
        self._url = url
        self._token = token
        context = ssl.create_default_context(cafile=str(ca))
        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context))

    async def close(self) -> None:
        await self._session.close()

    async def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content_type: str = "application/json",
        accept: str = "application/json",
        token: str | None = None,
    ) -> Answer:
        headers = {"Accept": accept, "Authorization": f"Bearer {self._token if token is None else token}"}
        if token == "":
            del headers["Authorization"]
        data = body if isinstance(body, bytes | io.BytesIO) or body is None else orjson.dumps(body)
        if data is not None:
            headers["Content-Type"] = content_type
        async with self._session.request(method, self._url + path, data=data, headers=headers) as answer:
            content = await answer.read()
            decoded = orjson.loads(content) if content[:1] == b"{" else {"text": content.decode()}
            return Answer(answer.status, decoded, answer.headers)

    async def create(self, path: str, body: Object) -> Object:
        answer = await self.ask("POST", path, body)
        assert answer.code == 201, answer.body
        return answer.body

    async def get(self, path: str) -> Object:
        answer = await self.ask("GET", path)
        assert answer.code == 200, answer.body
        return answer.body

    async def patch(self, path: str, body: object, content_type: str = MERGE) -> Answer:
        return await self.ask("PATCH", path, body, content_type=content_type)

    async def watch(self, path: str, count: int) -> list[Object]:
        """So many events, then the connection goes."""
        found: list[Object] = []
        headers = {"Authorization": f"Bearer {self._token}"}
        async with asyncio.timeout(10), self._session.get(self._url + path, headers=headers) as answer:
            async for line in answer.content:
                found.append(orjson.loads(line))
                if len(found) >= count:
                    break
        return found

    async def watched_to_the_end(self, path: str) -> list[Object]:
        """All events until the server ends the stream."""
        headers = {"Authorization": f"Bearer {self._token}"}
        async with asyncio.timeout(10), self._session.get(self._url + path, headers=headers) as answer:
            return [orjson.loads(line) async for line in answer.content]


def pod(name: str = "p", container: Object | None = None, **spec: Any) -> Object:
    return {
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i:1", **(container or {})}], **spec},
    }


def job(name: str = "j", **spec: Any) -> Object:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i:1"}]}}
    return {"metadata": {"name": name}, "spec": {"template": template, **spec}}


def binding(name: str, node: str = "n1", **metadata: Any) -> Object:
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    return {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, **metadata}, "target": target}
