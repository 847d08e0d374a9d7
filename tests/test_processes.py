"""The processes that tests start end with them."""

from __future__ import annotations

import os
import signal
from subprocess import PIPE

import pytest

from tests.processes import Program


def test_a_server_ends_with_a_test_that_fails_before_it_tells_it_to(tmp_path):
    with pytest.raises(ZeroDivisionError), Program("serve", "--home", tmp_path / "home", stdout=PIPE) as server:
        _ = 1 / len(server.stdout.readline()[:0])
    assert server.returncode == -signal.SIGKILL


def test_a_warning_is_an_error_where_the_environment_says_so():
    code = "import warnings\nwarnings.warn('old', DeprecationWarning)\nprint('went on')"
    for environ, went_on in (({"PYTHONWARNINGS": "error"}, False), ({"PYTHONWARNINGS": ""}, True)):
        with Program(code=code, env=os.environ | environ, stdout=PIPE, stderr=PIPE, text=True) as process:
            out, err = process.communicate()
        assert ("went on" in out, process.returncode == 0) == (went_on, went_on), err
