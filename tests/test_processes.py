"""The processes that tests start end with them."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE

import pytest

from tests.processes import Program
from tests.serving import served


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


def test_a_process_ends_as_one_of_python_does():
    ends = {
        "print('said', end='')": (0, "said", ""),
        "import sys; sys.exit(3)": (3, "", ""),
        "import sys; sys.exit('no')": (1, "", "no"),
        "1 / 0": (1, "", "ZeroDivisionError"),
        "import atexit; atexit.register(print, 'bye', end='')": (0, "bye", ""),
        "import threading; threading.Timer(0.1, print, ['late'], {'end': ''}).start()": (0, "late", ""),
        "circle = [open('/dev/null')]; circle.append(circle)": (0, "", "unclosed file"),
    }
    for code, (status, said, told) in ends.items():
        with Program(
            code=code, env=os.environ | {"PYTHONWARNINGS": "error"}, stdout=PIPE, stderr=PIPE, text=True
        ) as it:
            out, err = it.communicate()
        assert (it.returncode, out) == (status, said), (code, err)
        assert told in err if told else not err, code


def test_a_process_whose_reader_left_says_so():
    reading, writing = os.pipe()
    os.close(reading)
    with Program(code="print('said')", stdout=writing, stderr=PIPE, text=True) as process:
        os.close(writing)
        assert "BrokenPipeError" in process.communicate()[1]
    assert process.returncode


def test_what_answers_http_is_a_process_of_the_server_with_its_umask(tmp_path):
    with served(tmp_path / "home") as (_, server):
        (pid,) = subprocess.run(["pgrep", "-P", str(server.pid)], capture_output=True, text=True).stdout.split()
        umasks = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("Umask")]
        assert umasks == ["Umask:\t0077"]
    with suppress(ProcessLookupError):
        os.kill(int(pid), 0)
        raise AssertionError("it ends with the server")
