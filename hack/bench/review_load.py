"""Sends admission reviews one after the other and prints their latencies as JSON.

A process of its own, so that only the server's time is measured and not this program's other work.

    python -m hack.bench.review_load URL SECONDS
"""

import asyncio
import json
import statistics
import sys
from time import perf_counter

import aiohttp

from hack.bench.objects import NAMESPACE, job


async def latencies_ms(url: str, seconds: float) -> list[float]:
    """Milliseconds each review of a gang Job's creation took, over one keep-alive connection, for so many seconds."""
    review = json.dumps(
        {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {
                "uid": "1",
                "operation": "CREATE",
                "namespace": NAMESPACE,
                "kind": {"group": "batch", "version": "v1", "kind": "Job"},
                "resource": {"group": "batch", "version": "v1", "resource": "jobs"},
                "object": job(0, 20, gang=True),
            },
        }
    ).encode()
    times = []
    end = perf_counter() + seconds
    async with aiohttp.ClientSession(headers={"Content-Type": "application/json"}) as session:
        while perf_counter() < end:
            begin = perf_counter()
            async with session.post(f"{url}/mutate/jobs", data=review, ssl=False) as answer:
                body = await answer.json()
            times.append((perf_counter() - begin) * 1000)
            if not body["response"]["allowed"]:
                raise RuntimeError(f"the review was refused: {body['response']}")
    return times


def main() -> None:
    """Prints count, p50, p99 and the maximum, in milliseconds."""
    times = sorted(asyncio.run(latencies_ms(sys.argv[1], float(sys.argv[2]))))
    p99 = times[min(int(len(times) * 0.99), len(times) - 1)]
    print(json.dumps({"count": len(times), "p50": statistics.median(times), "p99": p99, "max": times[-1]}))


if __name__ == "__main__":
    main()
