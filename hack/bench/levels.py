"""What levels of topology, slices and ranks cost a decision: 5,000 nodes in 10 blocks, 50 racks, 250 shelves of 20."""

from typing import Final

from hack.bench import clusters
from hack.bench.table import median_ms, show

NODES: Final = 5000
BLOCK, SHELF = "example.com/block", "example.com/shelf"
RUNS: Final = 15

_THREE: Final = f"preferred:{BLOCK}, preferred:{clusters.RACK}, preferred:{SHELF}"
_SLICES: Final = {"tutti.scheduler/slice-size": "8", "tutti.scheduler/slice-topology": SHELF}


def _labels(index: int) -> dict[str, str]:
    return {BLOCK: f"block-{index // 500}", SHELF: f"shelf-{index // 20}"}


def measure() -> None:
    """Prints the table."""
    required = f"{BLOCK}, preferred:{clusters.RACK}, preferred:{SHELF}"
    show(
        "1,000 pods with ranks, 5,000 nodes in 10 blocks, 50 racks, 250 shelves",
        ["", "median ms", "min ms", "max ms", "goal"],
        [
            _row("no topology", {}),
            _row("one required level", {"tutti.scheduler/topology": clusters.RACK}, "", size=500),
            _row("three preferred levels", {"tutti.scheduler/topology": _THREE}, "20 ms"),
            _row(
                "three preferred levels, nodes used unevenly",
                {"tutti.scheduler/topology": _THREE},
                "20 ms",
                is_used=True,
            ),
            _row("one required, two preferred", {"tutti.scheduler/topology": required}, "20 ms"),
            _row(
                "one required, two preferred, nodes used unevenly",
                {"tutti.scheduler/topology": required},
                "20 ms",
                is_used=True,
            ),
            _row("slices of 8, each inside one shelf", _SLICES, "20 ms", is_used=True),
            _row(
                "slices of 8 and three preferred levels",
                {**_SLICES, "tutti.scheduler/topology": _THREE},
                "20 ms",
                is_used=True,
            ),
            _row("slices of 8, of two kinds of pods", _SLICES, "", is_used=True, kinds=2),
        ],
    )


def _row(
    name: str, annotations: dict[str, str], goal: str = "", *, is_used: bool = False, size: int = 1000, kinds: int = 1
) -> list[str]:
    state = clusters.cluster(NODES, _labels)
    if is_used:
        clusters.use_unevenly(state)
    key = clusters.gang(
        state,
        "gang",
        size,
        annotations=annotations,
        has_ranks=True,
        milli_cpu=lambda index: 8000 + 1000 * (index % kinds),
    )
    least, middle, most = median_ms(lambda: clusters.bindings(state, key), runs=RUNS)
    return [name, f"{middle:.2f}", f"{least:.2f}", f"{most:.2f}", f"at most {goal}" if goal else ""]
