"""The embedded runtime, being killed: once each here, 50 times in `make accidents`."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from processors import PROCESSORS
from streams.core.events import decode
from streams.runtime.home import Home
from streams.runtime.replay import replay as fold
from tests.processes import PIPE, Program

KILLS = 50 if os.environ.get("MNEMOLOG_ACCIDENTS") else 5
"""At least one of each process."""
PATIENCE = 300
FEEDER = """
import sys, time
from pathlib import Path
from streams.logs.sqlite import SqliteLog
from streams.core.events import AT_APPEND, TurnRecorded
from streams.logs.log import Stored
home, name, life = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
log = SqliteLog(home / "log.sqlite")
for n in range(100_000):
    ids = [f"{name}-{life}-{n}-{i}" for i in range(3)]
    turns = [TurnRecorded(f"space-{n % 3}", id_, AT_APPEND, name, name, "user", f"Remind me to check {n} of {id_}.")
             for id_ in ids]
    assert all(isinstance(outcome, Stored) for outcome in log.append(turns))
    print("\\n".join(ids), flush=True)
    time.sleep(0.2)  # people are slower than a log: what is fed while things are killed is folded twice at the end
"""
SERVER = """
import sys
from pathlib import Path
from processors import PROCESSORS
from streams.runtime.home import Home
from streams.runtime.home.server import serve
serve(Home(Path(sys.argv[1]), PROCESSORS), lambda: False, lambda line: print(line, flush=True))
"""


class Crew:
    """Four feeders and a server in processes of their own, any of which can be killed and started again."""

    def __init__(self, home: Path, acknowledged: Path) -> None:
        self.home = home
        self.acknowledged = acknowledged
        self.lives = [0] * 5
        self.processes = [self._start(i) for i in range(5)]

    def _start(self, i: int) -> Program:
        program, arguments = (SERVER, []) if i == 4 else (FEEDER, [f"feeder{i}", str(self.lives[i])])
        with (self.acknowledged / f"{i}-{self.lives[i]}").open("wb") as out:
            return Program(self.home, *arguments, code=program, stdout=out, stderr=PIPE)

    def kill(self, i: int, again: bool = True) -> None:
        """SIGKILL, once it has done some work in this life."""
        process, deadline = self.processes[i], time.monotonic() + PATIENCE
        while not (self.acknowledged / f"{i}-{self.lives[i]}").stat().st_size:
            assert process.poll() is None, process.stderr.read().decode() if process.stderr else ""
            assert time.monotonic() < deadline, "the process does nothing"
            time.sleep(0.01)
        assert process.poll() is None, process.stderr.read().decode() if process.stderr else ""
        self._end(process)
        self.lives[i] += 1
        if again:
            self.processes[i] = self._start(i)

    def end(self) -> None:
        """Leaves no process behind."""
        for process in self.processes:
            self._end(process)

    def _end(self, process: Program) -> None:
        process.kill()
        process.wait()
        if process.stderr:
            process.stderr.close()

    def acknowledged_ids(self) -> list[str]:
        """What feeders printed before they died; a torn last line was not acknowledged."""
        return [line for file in self.acknowledged.glob("[0-3]-*") for line in file.read_text().split("\n")[:-1]]


HALF_APPLIED = """
    SELECT (SELECT count(*) FROM turn_recorded), (SELECT count(*) FROM turn_filed),
           (SELECT count(*) FROM turn_threaded),
           (SELECT coalesce(max(position), -1) FROM turn_recorded), (SELECT coalesce(max(position), -1) FROM marks)
"""


def test_kills_lose_nothing_double_nothing_and_no_analyst_notices(home: Home, tmp_path: Path) -> None:
    (tmp_path / "acknowledged").mkdir()
    crew = Crew(home.path, tmp_path / "acknowledged")
    over = threading.Event()
    looks: list[tuple[int, ...]] = []
    troubles: list[BaseException] = []

    def analyse() -> None:
        analyst = Home(home.path, PROCESSORS)
        while not over.is_set():
            try:
                with analyst.reading() as connection:
                    looks.append(connection.execute(HALF_APPLIED).fetchall()[0])
            except BaseException as trouble:
                troubles.append(trouble)
            time.sleep(0.05)
        analyst.log.close()

    thread = threading.Thread(target=analyse, daemon=True)
    thread.start()

    def wait_for(seen: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not seen() and not troubles and time.monotonic() < deadline:
            time.sleep(0.05)

    try:
        wait_for(lambda: bool(looks))
        for kill in range(KILLS):
            crew.kill((kill * 3) % 5)
            time.sleep(0.05 + 0.1 * (kill % 3))
        wait_for(lambda: looks[-1][0] > looks[0][0])
        for i in range(5):
            crew.kill(i, again=False)
        wait_for(lambda: len(looks) > 10)
    finally:
        crew.end()
        over.set()
        thread.join()
    assert troubles == []
    assert len(looks) > 10
    assert looks[-1][0] > looks[0][0]
    for turns, filed, threaded, newest, mark in looks:
        assert turns == filed == threaded
        assert newest <= mark
    recorded = [decode(r.type, r.value).id for r in home.log.read(0, 0)]
    assert len(recorded) == len(set(recorded))
    assert set(crew.acknowledged_ids()) <= set(recorded)
    assert len(crew.acknowledged_ids()) >= 3 * (KILLS + 5) * 4 // 5
    live = home.ask("digest")
    fold(home, "again")
    assert home.ask("digest", memory="again") == live
