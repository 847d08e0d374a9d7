"""`make bench`: what is measured, against its floor in the same run and the bar that was set.

    python -m tests.bench [NAME...] [--json] [--list] [--strict]

Each module of this folder named quality_*.py or speed*.py is measured in a process of its own, one after the other, so
that none sees the memory or the warm caches of another. A module has `run()`, which returns rows of `measure`, `floor`,
`ours`, `bar`, `met`; none where its data is absent (see data). A bar that was missed is a finding, not a failure: the
exit code is 0 as long as all that has its data could be measured. With `--strict` it is 0 only where every bar is met.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from streams.gateways.terminal import Terminal
from tests.bench.data import ABSENT

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
Row = dict[str, Any]


def modules() -> list[str]:
    """What can be measured, by name: quality first."""
    return sorted(path.stem for pattern in ("quality_*.py", "speed*.py") for path in FOLDER.glob(pattern))


def normal(row: Row) -> Row:
    """A row in the form of all rows: floors that were named apart in one cell, `met` judged where it was not."""
    measure = row.get("measure") or row.get("metric") or ""
    floors = row.get("floors") or ({row.get("floor_is", ""): row["floor"]} if row.get("floor") is not None else {})
    floor = ", ".join(f"{name} {_short(value)}".strip() for name, value in floors.items())
    ours, bar, met = row.get("ours"), row.get("bar"), row.get("met", row.get("ok"))
    if met is None and isinstance(ours, (int, float)) and isinstance(bar, (int, float)):
        met = ours >= bar
        bar = f">= {_short(bar)}"
    return {"measure": measure, "floor": floor, "ours": ours, "bar": bar, "met": met}


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def shown(row: Row) -> Row:
    """A row for people."""
    met = {True: "met", False: "MISSED", None: ""}[row["met"] if row["bar"] not in (None, "", "-") else None]
    return row | {"ours": _short(row["ours"]), "bar": _short(row["bar"] or ""), "met": met}


def child(name: str, target: str) -> None:
    """Measures one module and writes its rows to a file."""
    rows = importlib.import_module(f"tests.bench.{name}").run()
    Path(target).write_text(json.dumps([normal(row) for row in rows]))


def measured(name: str, folder: Path) -> list[Row] | str:
    """The rows of a module, measured in a process of its own; in words why there are none."""
    target, said = folder / f"{name}.json", folder / f"{name}.txt"
    began = time.monotonic()
    with said.open("wb") as output:
        command = [sys.executable, "-m", "tests.bench", "--child", str(target), name]
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        try:
            while process.poll() is None:
                _waiting(f"measuring {name}, {time.monotonic() - began:.0f} s")
                time.sleep(0.2)
        finally:
            process.kill()
            _waiting("")
    if process.returncode or not target.exists():
        return "failed: " + (said.read_text(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
    rows: list[Row] = json.loads(target.read_text())
    return rows or f"skipped: {ABSENT}"


def _waiting(text: str) -> None:
    """A line on the terminal that the next one replaces."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def report(names: list[str], as_json: bool, strict: bool) -> bool:
    """Measures and tells, module by module; whether all is well.

    All is well where nothing failed; with `strict`, where every bar was measured and met.
    """
    terminal = Terminal(as_json)
    failed = missed = skipped = 0
    with tempfile.TemporaryDirectory(prefix="mnemolog-bench-") as folder:
        for name in names:
            began = time.monotonic()
            rows = measured(name, Path(folder))
            seconds = time.monotonic() - began
            if as_json:
                said: list[Row] = [{"said": rows}] if isinstance(rows, str) else rows
                for row in said:
                    terminal.object({"module": name} | row)
            else:
                terminal.say(f"\n[bold]{name}[/] [dim]{seconds:.0f} s[/]")
                if isinstance(rows, str):
                    terminal.say(rows)
                else:
                    terminal.rows(map(shown, rows), "measure ours> bar met floor~", "")
            sys.stdout.flush()
            failed += isinstance(rows, str) and rows.startswith("failed")
            skipped += isinstance(rows, str) and not rows.startswith("failed")
            missed += 0 if isinstance(rows, str) else sum(row["met"] is False for row in rows)
    terminal.say(f"\n{missed} bars missed, {failed} modules failed, {skipped} skipped")
    return not failed and not (strict and (missed or skipped))


def main() -> None:
    """Reads the command."""
    known = modules()
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(known)}; parts of names; none: all")
    parser.add_argument("--json", action="store_true", help="one object a line")
    parser.add_argument("--list", action="store_true", help="only tell the names")
    parser.add_argument("--strict", action="store_true", help="fail where a bar is missed, or could not be measured")
    parser.add_argument("--child", metavar="FILE", help=argparse.SUPPRESS)
    given = parser.parse_args()
    unknown = [part for part in given.names if not any(part in name for name in known)]
    if unknown:
        parser.error(f"nothing is named {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = [name for name in known if not given.names or any(part in name for part in given.names)]
    if given.child:
        child(given.names[0], given.child)
    elif given.list:
        print("\n".join(chosen))
    else:
        raise SystemExit(0 if report(chosen, given.json, given.strict) else 1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        _waiting("")
        raise SystemExit(130) from None
