"""Learns when a turn calls for memory (the weights of `context.recalled`; see projections/recall/calls.py).

    python -m tests.bench.learn_calls

Of the spaces of long conversations (LoCoMo) and meetings (QMSum), each asked what people asked of it, and words that
have nothing to do with it: how other people begin and end their talk (persona chats, everyday dialogues), and what
was asked of the other kind of space, where that is no talk about talk. Fitted on every second space, both kinds of
space and both answers counting alike; prints the weights and, of the other half, how many of each are taken for calls.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from projections.recall.analysis import ask
from projections.recall.answers import Sight
from projections.recall.calls import Signs, signs
from projections.recall.question import Question
from streams.core.events import TurnRecorded
from tests.bench.data import DATA
from tests.bench.quality_given import meetings
from tests.bench.quality_recall import conversations
from tests.spaces import Remembering

EACH = 8
"""Of each kind of foreign words, so many are said in each space; in a conversation, of which there are few, all."""


class Case(NamedTuple):
    """A turn in a space."""

    corpus: str
    half: int
    kind: str
    signs: Signs


def foreign() -> dict[str, list[str]]:
    """How others begin, go on with and end their talk."""
    chats = [[turn for turn, _ in chat] for chat in json.loads((DATA / "tiage" / "anno_dev.json").read_text()).values()]
    lines = (DATA / "dialogsum" / "dev.jsonl").read_text().splitlines()
    talks = [[turn.split(": ", 1)[-1] for turn in json.loads(line)["dialogue"].split("\n")] for line in lines]
    return {
        "chats begin": [chat[0] for chat in chats],
        "chats go on": [turn for chat in chats for turn in chat[1:]],
        "dialogues begin": [talk[0] for talk in talks],
        "dialogues end": [talk[-1] for talk in talks],
    }


def spaces() -> Iterator[tuple[str, list[TurnRecorded], list[str]]]:
    """Each space: of which kind it is, what was said in it, and what was asked of it."""
    talks, asked = conversations(True)
    for number, talk in enumerate(talks):
        said = [TurnRecorded("", f"t{n}", t.at, t.session, t.agent, "user", t.content) for n, t in enumerate(talk)]
        yield "conversations", said, [one.text for one in asked if one.conversation == number]
    for said, queries in meetings():
        yield "meetings", said, [one.query for one in queries]


def cases(folder: Path) -> Iterator[Case]:
    """What is seen of each turn."""
    random, others, given = Random(1), foreign(), [*spaces()]
    others["questions to conversations"] = [
        one for corpus, _, asked in given if corpus == "conversations" for one in asked
    ]
    events = [
        replace(turn, space=f"s{n}", id=f"{n} {turn.id}") for n, (_, said, _) in enumerate(given) for turn in said
    ]
    with Remembering(folder / "home", events) as home:
        home.ask("context", space="s0", session="asked", question="?")
        connection = home.office.runtime.store.connection.cursor()
        sight = Sight(connection, home.office.recalling.recall(connection), False)
        for number, (corpus, _, asked) in enumerate(given):
            said = {
                kind: random.sample(texts, EACH if corpus == "meetings" else 10 * EACH)
                for kind, texts in others.items()
            }
            if corpus == "conversations":
                said.pop("questions to conversations")
            for kind, texts in {"asked": asked, **said}.items():
                for text in texts:
                    yield Case(corpus, number % 2, kind, _seen(sight, f"s{number}", text))


def _seen(sight: Sight, space: str, text: str) -> Signs:
    moment, hits = sight.recall.found(Question(space, text, 60, ["turn"], "asked"), None)
    return signs(sight.recall.ranking, moment.space, ask(text), hits) if hits else Signs(0, 0, 0, 0, 0)


def main() -> None:
    """Prints the weights, and what they are worth."""
    with TemporaryDirectory() as folder:
        found = [*cases(Path(folder))]
    learned = [case for case in found if not case.half]
    sizes = defaultdict[tuple[str, bool], int](int)
    for case in learned:
        sizes[case.corpus, case.kind == "asked"] += 1
    model = LogisticRegression(C=10, max_iter=2000)
    weights = [1000 / sizes[case.corpus, case.kind == "asked"] for case in learned]
    model.fit(np.array([case.signs for case in learned], float), [case.kind == "asked" for case in learned], weights)
    print({name: round(float(w), 2) for name, w in zip(Signs._fields, model.coef_[0], strict=True)})
    print(f"doubt {-model.intercept_[0]:.2f}; taken for calls, % of the other half:")
    told = defaultdict[tuple[str, str], list[float]](list)
    for case in found:
        if case.half:
            told[case.corpus, case.kind].append(model.predict_proba(np.array([case.signs], float))[0, 1])
    for (corpus, kind), likely in told.items():
        shares = {f"> {least}": round(100 * float(np.mean(np.array(likely) > least)), 1) for least in (0.15, 0.3, 0.5)}
        print(f"  {corpus}, {kind}: {len(likely)} {shares}")


if __name__ == "__main__":
    main()
