"""Tests that need newer servers than those of this run are skipped, and say what they need."""

import pytest


def skip_too_new(items: list[pytest.Item], minor: int) -> None:
    """Skips what is marked `since(minor, reason)` with a newer version than the servers have."""
    for item in items:
        mark = item.get_closest_marker("since")
        if mark is not None and mark.args[0] > minor:
            wanted, reason = mark.args
            item.add_marker(pytest.mark.skip(reason=f"Kubernetes 1.{wanted} or later only: {reason}"))
