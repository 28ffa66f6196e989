"""Ports for the servers of live tests: no two test processes are given the same one."""

import socket
import subprocess
import sys

import pytest

from install.address import free_ports as ports_of_tutti_run
from verify.clusters.ports import BLOCK, LOOPBACK, PortBlock, free_ports


def test_two_blocks_have_no_port_in_common() -> None:
    one, other = PortBlock(), PortBlock()
    assert not set(one.take(BLOCK // 2)) & set(other.take(BLOCK // 2))


def test_a_block_is_given_to_no_other_process_while_its_own_lives() -> None:
    code = "from verify.clusters.ports import free_ports; print(*free_ports(3), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        theirs = {int(port) // BLOCK for port in other.stdout.readline().split()}
        assert len(theirs) == 1
        (block,) = theirs
        with pytest.raises(OSError, match="in use"), socket.socket() as probe:
            probe.bind((LOOPBACK, block * BLOCK))
        other.communicate("\n")
    with socket.socket() as probe:
        probe.bind((LOOPBACK, block * BLOCK))


def test_a_port_is_given_again_only_after_all_others() -> None:
    block = PortBlock()
    given = [block.take(1)[0] for _ in range(BLOCK - 1)]
    assert len(set(given)) >= BLOCK - 5, "some may be in use by others"
    assert block.take(1)[0] in given


def test_a_port_on_which_somebody_listens_is_passed_over() -> None:
    block = PortBlock()
    with socket.socket() as listener:
        first = block.take(1)[0]
        listener.bind((LOOPBACK, first + 1))
        assert first + 1 not in block.take(10)


def test_where_none_is_free_that_is_said() -> None:
    block = PortBlock()
    with pytest.raises(OSError, match="none of the ports"):
        block.take(BLOCK)


def test_what_tutti_run_chooses_by_itself_is_in_no_block() -> None:
    assert max(free_ports(5)) < 20_000 <= min(ports_of_tutti_run(20))
