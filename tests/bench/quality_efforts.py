"""How well efforts are told apart: threads of many speakers, and task dialogues interleaved in one session.

    VI        100 * (1 - variation of information / log2 n)
    1-1       largest overlap of a one-to-one pairing of found and true threads, in percent of the turns
    exact F1  of threads of more than one message that were found exactly

Definitions: Kummerfeld et al., ACL 2019. Floors are computed in the same run. Without data there are no rows.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import log2
from pathlib import Path
from typing import Any

from processors import manifest, open_efforts
from processors.open_efforts import EffortOpened, OpenEffortsParams, TurnRethreaded, TurnThreaded
from streams.core.driver import fold
from streams.core.events import DAY, MINUTE, TurnRecorded
from tests.bench.data import DATA
from tests.bench.interleave import START, sessions

Labels = dict[str, str]
"""Turn to thread."""
IRC_BARS = (90.0, 77.0, 33.0)
TASK_BAR = 60.0
SPACE_BARS = (90.0, 85.0)


def threads(turns: Iterable[TurnRecorded], params: OpenEffortsParams | None = None) -> Labels:
    """The effort of each turn after all revisions; a turn without one is a thread of its own."""
    found: Labels = {}
    given = {"open_efforts": params} if params else {}
    for row in fold((manifest.PROCESSOR, open_efforts.PROCESSOR), turns, given):
        if isinstance(row.event, TurnThreaded | TurnRethreaded):
            found[row.event.turn] = row.event.effort or row.event.turn
    return found


def scaled_vi(gold: Labels, found: Labels) -> float:
    """Scaled variation of information, 0 to 100."""
    n = len(gold)
    golds, founds = Counter(gold.values()), Counter(found[turn] for turn in gold)
    both = Counter((gold[turn], found[turn]) for turn in gold)
    vi = -sum(c / n * (log2(c / golds[g]) + log2(c / founds[f])) for (g, f), c in both.items())
    return 100 * (1 - vi / log2(n)) if n > 1 else 100.0


def one_to_one(gold: Labels, found: Labels) -> float:
    """Share of turns in the best one-to-one pairing of threads, 0 to 100; each connected part is solved by itself."""
    both = Counter((gold[turn], found[turn]) for turn in gold)
    by_gold, by_found = defaultdict(list), defaultdict(list)
    for g, f in both:
        by_gold[g].append(f)
        by_found[f].append(g)
    seen: set[str] = set()
    total = 0
    for start in by_gold:
        if start in seen:
            continue
        rows, columns, stack = [], dict[str, None](), [start]
        seen.add(start)
        while stack:
            rows.append(g := stack.pop())
            for f in by_gold[g]:
                if f not in columns:
                    columns[f] = None
                    stack += (new := [g for g in by_found[f] if g not in seen])
                    seen.update(new)
        total += _pair([[both.get((g, f), 0) for f in columns] for g in rows])
    return 100 * total / len(gold)


def _pair(weights: list[list[int]]) -> int:
    """The greatest sum of one weight per row and column (Hungarian method)."""
    if len(weights) > len(weights[0]):
        weights = [list(column) for column in zip(*weights, strict=True)]
    n, m = len(weights), len(weights[0])
    u, v, match, way = [0] * (n + 1), [0] * (m + 1), [0] * (m + 1), [0] * (m + 1)
    for row in range(1, n + 1):
        match[0], at = row, 0
        least, used = [1 << 60] * (m + 1), [False] * (m + 1)
        while True:
            used[at], here, delta, to = True, match[at], 1 << 60, 0
            for j in range(1, m + 1):
                if not used[j]:
                    cost = -weights[here - 1][j - 1] - u[here] - v[j]
                    if cost < least[j]:
                        least[j], way[j] = cost, at
                    if least[j] < delta:
                        delta, to = least[j], j
            for j in range(m + 1):
                if used[j]:
                    u[match[j]] += delta
                    v[j] -= delta
                else:
                    least[j] -= delta
            at = to
            if match[at] == 0:
                break
        while at:
            match[at], at = match[way[at]], way[at]
    return sum(weights[match[j] - 1][j - 1] for j in range(1, m + 1) if match[j])


def exact_f1(gold: Labels, found: Labels) -> float:
    """F1 of threads of more than one turn that were found exactly, 0 to 100."""
    sets: list[set[frozenset[str]]] = []
    for labels in (gold, {turn: found[turn] for turn in gold}):
        members = defaultdict(list)
        for turn, label in labels.items():
            members[label].append(turn)
        sets.append({frozenset(turns) for turns in members.values() if len(turns) > 1})
    true, ours = sets
    return 200 * len(true & ours) / (len(true) + len(ours)) if true or ours else 100.0


def irc(path: Path) -> list[tuple[list[TurnRecorded], Labels]]:
    """Each channel log of a file: its turns, context included, and the threads of those that are annotated."""
    files: dict[str, tuple[list[TurnRecorded], Labels]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        message: dict[str, Any] = json.loads(line)
        name = message["id"].rsplit("/", 1)[0]
        turns, gold = files.setdefault(name, ([], {}))
        role = "user" if message["speaker"] else "system"
        at = START + message["at"] * MINUTE
        turns.append(TurnRecorded(name, message["id"], at, name, message["speaker"], role, message["text"]))
        if message["thread"] is not None:
            gold[message["id"]] = message["thread"]
    return list(files.values())


def same_speaker(turns: Sequence[TurnRecorded]) -> Labels:
    """Floor: a message goes on with its author's last one within 10 minutes."""
    last: dict[str, tuple[int, str]] = {}
    found: Labels = {}
    for turn in turns:
        at, label = last.get(turn.agent, (-1, ""))
        found[turn.id] = label if turn.agent and label and turn.at - at <= 10 * MINUTE else turn.id
        last[turn.agent] = (turn.at, found[turn.id])
    return found


def all_one(turns: Sequence[TurnRecorded]) -> Labels:
    """Floor: everything is one thread."""
    return {turn.id: turn.session for turn in turns}


def greeting(turns: Sequence[TurnRecorded]) -> Labels:
    """Floor: a user's greeting begins a thread, everything else goes on."""
    found: Labels = {}
    label = ""
    for turn in turns:
        if not label or (turn.role == "user" and turn.content.lower().startswith(("hi", "hello", "hey", "good "))):
            label = turn.id
        found[turn.id] = label
    return found


Method = Callable[[Sequence[TurnRecorded]], Labels]


def _irc_scores(method: Method, logs: list[tuple[list[TurnRecorded], Labels]]) -> tuple[float, float, float]:
    gold: Labels = {}
    found: Labels = {}
    for turns, labels in logs:
        gold |= labels
        ours = method(turns)
        found |= {turn: f"{turns[0].session} {ours[turn]}" for turn in labels}
    return scaled_vi(gold, found), one_to_one(gold, found), exact_f1(gold, found)


def task_score(method: Method, text_only: bool, agents: int = 1, count: int = 40, **how: Any) -> float:
    """Mean one-to-one over interleaved sessions. `text_only` leaves out tool calls and results; with several `agents`
    each dialogue has an assistant of its own."""
    scores = []
    for session in sessions(count, **how):
        turns, gold = [], {}
        for turn, label in zip(session.turns, session.labels, strict=True):
            if not text_only or (turn.role in ("user", "assistant") and turn.content):
                if agents > 1 and turn.role == "assistant":
                    turn.agent = f"agent-{label}"
                turns.append(turn)
                gold[turn.id] = str(label)
        scores.append(one_to_one(gold, method(turns)))
    return sum(scores) / len(scores) if scores else 0.0


def run() -> list[dict[str, Any]]:
    """Every measure with its floor, ours and the bar; none where the data is absent."""
    if not (DATA / "irc").is_dir() or not (DATA / "tau").is_dir():
        return []
    rows: list[dict[str, Any]] = []
    logs = irc(DATA / "irc" / "dev.jsonl")
    ours, floor = _irc_scores(threads, logs), _irc_scores(same_speaker, logs)
    for name, low, value, bar in zip(("VI", "1-1", "exact F1"), floor, ours, IRC_BARS, strict=True):
        rows.append({"measure": f"IRC dev {name}", "floor": low, "floor_is": "same speaker", "ours": value, "bar": bar})
    for name, how in (
        ("text", {"text_only": True}),
        ("with tools", {"text_only": False}),
        ("text, 4 agents", {"text_only": True, "agents": 4}),
        ("text, blocks of 1-3", {"text_only": True, "block": (1, 3)}),
    ):
        low, value = task_score(greeting, **how), task_score(threads, **how)
        rows.append(
            {"measure": f"4 tasks, {name}: 1-1", "floor": low, "floor_is": "greeting", "ours": value, "bar": TASK_BAR}
        )
    told, floor = resumed()
    rows.append(
        {
            "measure": "4 tasks, resumed effort told",
            "floor": floor,
            "floor_is": "last effort",
            "ours": told,
            "bar": 90.0,
        }
    )
    for name, value, bar in zip(("own efforts", "resumed effort told"), one_space(), SPACE_BARS, strict=True):
        rows.append({"measure": f"24 sessions, {name}", "floor": 0.0, "floor_is": "none", "ours": value, "bar": bar})
    return [row | {"met": row["ours"] >= max(row["bar"], row["floor"])} for row in rows]


def one_space(count: int = 24) -> tuple[float, float]:
    """Of interleaved sessions in one space, one after another: how many of the turns, in percent, went to an effort
    that was opened in their own session; and at how many resumptions the resumed effort is told (see `resumed`)."""
    own = turns = hits = resumptions = 0
    opened: dict[str, str] = {}
    told: dict[str, TurnThreaded] = {}
    talks = sessions(count)
    for number, talk in enumerate(talks):
        for turn in talk.turns:
            turn.space, turn.session, turn.id = "space", f"session-{number}", f"{number}-{turn.id}"
            turn.at += number * DAY
    for row in fold((manifest.PROCESSOR, open_efforts.PROCESSOR), (turn for talk in talks for turn in talk.turns)):
        if isinstance(row.event, EffortOpened):
            opened[row.event.effort] = row.event.session
        elif isinstance(row.event, TurnThreaded):
            told[row.event.turn] = row.event
            turns += 1
            own += not row.event.effort or opened[row.event.effort] == row.event.session
    for talk in talks:
        for at in talk.resumptions:
            before = zip(talk.turns[:at], talk.labels, strict=False)
            votes = Counter(told[turn.id].effort for turn, label in before if label == talk.labels[at])
            said, main = told[talk.turns[at].id], votes.most_common(1)[0][0]
            resumptions += 1
            hits += main in said.mentioned or main in said.similar[:4]
    return (100 * own / turns, 100 * hits / resumptions) if turns else (0.0, 0.0)


def resumed(count: int = 40) -> tuple[float, float]:
    """At how many first turns after a resumption, in percent, the turn names or resembles the effort that most turns of
    that dialogue went to; and at how many that is simply the effort before. The latter is the floor."""
    hits = last = total = 0
    for session in sessions(count):
        labels = dict(zip((turn.id for turn in session.turns), session.labels, strict=True))
        starts = {session.turns[at].id for at in session.resumptions}
        votes: dict[int, Counter[str]] = defaultdict(Counter)
        before = ""
        for row in fold((manifest.PROCESSOR, open_efforts.PROCESSOR), session.turns):
            if isinstance(row.event, TurnThreaded):
                said = row.event
                if said.turn in starts and (main := votes[labels[said.turn]].most_common(1)):
                    total += 1
                    hits += main[0][0] in said.mentioned or main[0][0] in said.similar[:4]
                    last += main[0][0] == before
                if said.effort:
                    votes[labels[said.turn]][said.effort] += 1
                    before = said.effort
    return (100 * hits / total, 100 * last / total) if total else (0.0, 0.0)


def main() -> None:
    """Prints the table."""
    print(f"{'measure':<34}{'floor':>8}  {'(what)':<14}{'ours':>8}{'bar':>8}")
    for row in run():
        print(f"{row['measure']:<34}{row['floor']:8.1f}  {row['floor_is']:<14}{row['ours']:8.1f}{row['bar']:8.1f}")


if __name__ == "__main__":
    main()
