"""Learns by which words people end, open or stay with a piece of work (streams/core/text/acts.json).

    python -m tests.bench.learn_acts [--write] [--endings]

Learns from turns of all voices and, for ends, from the sentences beside them (tests/voices/sentences/ends.*: "+" ends
something, "-" does not), each language's sentences together a group. Prints how well acts are told apart, and precision
and recall of ends, by weights that were learned without the author of a turn.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from sklearn.metrics import roc_auc_score

import streams.core.text.acts as module
from processors import manifest
from processors.manifest import conclusion, ending
from streams.core import text
from streams.core.driver import fold
from streams.core.text.acts import signals_of
from streams.core.text.learned import weigh
from tests.bench.learning import Example, Weights, best, crossed, fit, fit_values, parts, reliability, score, write
from tests.bench.voices import VOICES, Conversation, conversations

PATH = Path(module.__file__).with_name("acts.json")
VERSION = 4
WEIGH = conclusion._weigh_end
SENTENCE = 1.0
"""What a sentence counts beside a turn."""
STRENGTH = {"ends": 0.2, "opens": 0.3, "stays": 0.3, "accepts": 0.2}
AUTHORS = {"ends": 2, "opens": 2, "stays": 5, "accepts": 2}
"""How many must use a signal for it to be learned: what says that a turn stays with its matter are many common words,
of which each tells little, and the file would have as many weights of them as of all other acts."""


def turns() -> Iterator[tuple[Conversation, dict[str, Any], list[str]]]:
    """Turns of conversations with efforts, and which acts they are."""
    for one in conversations(learning=True):
        known: set[str] = set()
        current: dict[str, str] = {}
        ends = False
        for turn in one.turns if one.efforts else ():
            effort, session = turn.get("effort"), turn["session"]
            if turn["role"] == "user":
                ends = bool(turn.get("concluded"))
                found = ["ends"] if ends else []
                if effort:
                    found += ["opens"] if effort not in known else ["stays"] if current.get(session) == effort else []
                yield one, turn, found
            elif turn["role"] == "assistant":
                yield one, turn, ["accepts"] if ends else []
                ends = False
            if effort:
                known.add(effort)
                current[session] = effort


def seen_of(content: str, role: str) -> list[str]:
    """What the acts of a turn are told by."""
    seen, places = signals_of(content, role)
    return seen + places


@cache
def examples(act: str) -> list[Example]:
    """All that an act is learned from."""
    role = "assistant" if act == "accepts" else "user"
    found = [
        Example(seen_of(turn["text"], role), act in acts, one.author)
        for one, turn, acts in turns()
        if turn["role"] == role and (turn.get("effort") or act in ("ends", "accepts"))
    ]
    for path in sorted((VOICES / "sentences").glob("ends.*.txt")) if act == "ends" else ():
        for number, line in enumerate(path.read_text("utf-8").splitlines()):
            found.append(Example(seen_of(line[2:], role), line[0] == "+", f"sentences {number % 3}", SENTENCE))
    return found


@cache
def dealt() -> list[frozenset[str]]:
    """The authors in parts."""
    return parts(one.author for one in conversations(learning=True))


@cache
def without(out: frozenset[str]) -> dict[str, Weights]:
    """The weights of each act that are learned without some authors."""
    return {
        act: fit([one for one in examples(act) if one.group not in out], strength, AUTHORS[act])
        for act, strength in STRENGTH.items()
    }


@contextmanager
def others(author: str) -> Iterator[None]:
    """What words say is told by weights without an author's part; of whom there is nothing to learn from, by all."""
    out = next((part for part in dealt() if author in part), frozenset())

    def say(seen: list[str], act: str) -> int:
        return max(-module.MOST, min(module.MOST, score(without(out)[act], seen)))

    kept = text.acting, text.accepting
    text.acting = lambda seen: [say(seen, act) for act in ("ends", "opens", "stays")]
    text.accepting = lambda seen: say(seen, "accepts")
    try:
        yield
    finally:
        text.acting, text.accepting = kept


def endings() -> list[tuple[str, bool, list[int]]]:
    """What is seen at each look at a turn that may end something: author, whether it does, and the evidence."""
    found: list[tuple[str, bool, list[int]]] = []
    for one in conversations(learning=True):
        if not one.efforts:
            continue
        ends = {turn["id"]: bool(turn.get("concluded")) for turn in one.turns}
        looks: dict[tuple[str, int], list[int]] = {}

        def weigh(params: Any, ground: Any, end: Any, turn: Any, looks: dict[Any, Any] = looks) -> list[Any]:
            looks[end.turn, len(end.seen)] = [*end.seen]
            return WEIGH(params, ground, end, turn)

        kept, conclusion._weigh_end = conclusion._weigh_end, weigh
        looked, ending.LOOK = ending.LOOK, -(10**6)
        try:
            with others(one.author):
                for _ in fold((manifest.PROCESSOR,), one.events()):
                    pass
        finally:
            conclusion._weigh_end, ending.LOOK = kept, looked
        found += [(one.author, ends[turn], seen) for (turn, _), seen in looks.items()]
    return found


def fit_endings(given: list[tuple[str, bool, list[int]]]) -> dict[str, int]:
    """The weights of processors/manifest/ending.py, in hundredths."""
    width = len(ending.WEIGHTS)
    rows = [seen + [0] * (width - len(seen)) for _, _, seen in given]
    return dict(zip(ending.WEIGHTS, fit_values(rows, [label for _, label, _ in given]), strict=True))


def tell_endings() -> None:
    """Prints what the weights of ending.py are worth on authors that were left out, at each look; and the weights."""
    given = endings()
    scores: dict[int, list[tuple[int, bool]]] = {}
    for author in sorted({author for author, _, _ in given}):
        weights = fit_endings([one for one in given if one[0] != author])
        for _, label, seen in (one for one in given if one[0] == author):
            worth = weigh(weights.values(), seen)
            scores.setdefault(len(seen), []).append((worth, label))
    for looked, rows in sorted(scores.items()):
        values, labels = [value for value, _ in rows], [label for _, label in rows]
        area = roc_auc_score(labels, values)
        print(f"endings, {looked} seen: area under the curve {area:.3f}, {sum(labels)} of {len(rows)}")
        for precision in (0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2):
            threshold, p, recall = best(values, labels, precision)
            print(f"  from {threshold:>5} on: P {p:.2f} R {recall:.2f}")
        print("  reliability", [(f"{a:.2f}", f"{b:.2f}", n) for a, b, n in reliability(values, labels)])
    print(fit_endings(given))


def main() -> None:
    """Prints what the weights are worth; writes them with --write, and prints those of ending.py with --endings."""
    if "--endings" in sys.argv:
        tell_endings()
        return
    for act, strength in STRENGTH.items():
        given = examples(act)
        scores = crossed(given, strength, AUTHORS[act])
        rows = [(s, e.label) for s, e in zip(scores, given, strict=True) if not e.group.startswith("sentences")]
        values, labels = [s for s, _ in rows], [label for _, label in rows]
        print(f"{act}: area under the curve {roc_auc_score(labels, values):.3f}, {sum(labels)} of {len(labels)}")
        if act == "ends":
            for precision in (0.7, 0.6, 0.5, 0.4, 0.3, 0.2):
                threshold, p, recall = best(values, labels, precision)
                print(f"  from {threshold:>5} on: P {p:.2f} R {recall:.2f}")
        print("  reliability", [(f"{a:.2f}", f"{b:.2f}", n) for a, b, n in reliability(values, labels)])
    if "--write" in sys.argv:
        write(PATH, VERSION, without(frozenset()))


if __name__ == "__main__":
    main()
