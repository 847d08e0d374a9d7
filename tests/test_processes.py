"""The processes that tests start end with them."""

from __future__ import annotations

import signal
from subprocess import PIPE

import pytest

from tests.processes import Program


def test_a_server_ends_with_a_test_that_fails_before_it_tells_it_to(tmp_path):
    with pytest.raises(ZeroDivisionError), Program("serve", "--home", tmp_path / "home", stdout=PIPE) as server:
        _ = 1 / len(server.stdout.readline()[:0])
    assert server.returncode == -signal.SIGKILL
