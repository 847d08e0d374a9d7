"""Learns how likely words are to stand in what people call a piece of work (processors/open_efforts/titles.json).

    python -m tests.bench.learn_titles [--crossed] [--write]

Learns of the efforts of the voices that may be looked at (see voices), by the turns that their authors count to them;
of short dialogues by authors of their own (`tests/voices/titles/AUTHOR`); and of every other dialogue of
quality_summaries, where the data is there. An effort is seen twice: when its first turn opens it, and when all was
said. A word is an example: is it, or a word with its stem, in what the effort is called? `--crossed` tells how alike
titles are to what authors called their work, by weights that were learned without them; `--write` writes the weights
of all.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from processors.open_efforts import naming, topics
from streams.core.events import TurnRecorded
from streams.core.text import read
from streams.core.text.learned import Learned
from streams.core.text.telling import excerpt
from tests.bench.learning import Example, Table, Weights, parts, write
from tests.bench.quality_summaries import DIALOGUES, rouge, session_of, stems, turns_of
from tests.bench.voices import MEASURING, VOICES, conversations

STRENGTH = 0.2
"""Inverse of how strongly weights are drawn to nothing."""
COUNTS = {"voices": 1.0, "dialogues": 3.0, "dialogsum": 3.0}
"""What a word of each source counts: there are fewer dialogues, and what is said there is shorter."""
OPENING = 0.5
"""What an effort counts, beside one of which all was said, when it just opens."""
UNSPACED = frozenset(("ja", "zh", "ko", "th"))
"""Languages whose words the measure cannot tell."""
WORDS = Path(topics.__file__).with_name("titles.json")


class Effort(NamedTuple):
    """A piece of work, as far as something was said of it."""

    source: str
    author: str
    called: str
    texts: list[str]
    """The beginnings of its first turns."""
    uses: dict[str, int]
    """How many turns use each stem."""
    people: frozenset[str]
    weight: float


def effort(source: str, author: str, called: str, said: Sequence[TurnRecorded], whole: bool) -> Effort:
    """Some turns as work; when it opens, where it is not told whole."""
    told = [turn for turn in said[: topics.YOUNG] if read(turn).terms]
    uses = Counter(term for turn in told for term in read(turn).terms) if whole else {}
    texts = [excerpt(turn.content, topics.EXCERPT) for turn in told[: topics.FIRST if whole else 1]]
    weight = COUNTS[source] * (1.0 if whole else OPENING)
    return Effort(source, author, called, texts, dict(uses), frozenset(turn.agent.lower() for turn in said), weight)


def given(learning: bool) -> Iterator[tuple[str, str, str, list[TurnRecorded]]]:
    """The source, the author, the name and the turns of each piece of work."""
    for conversation in conversations(learning):
        if conversation.language in UNSPACED:
            continue
        said: dict[str, list[TurnRecorded]] = defaultdict(list)
        for turn, event in zip(conversation.turns, conversation.events(), strict=True):
            said[turn.get("effort") or ""].append(event)
        for effort, title in conversation.efforts.items():
            if effort in said:
                yield "voices", conversation.author, title, said[effort]
    for author, topic, turns in dialogues(learning):
        yield "dialogues", author, topic, turns
    if DIALOGUES.exists():
        for line in DIALOGUES.read_text("utf-8").splitlines()[0 if learning else 1 :: 2]:
            sample = json.loads(line)
            yield "dialogsum", "dialogsum", sample["topic"], recorded(turns_of(sample["dialogue"]))


def dialogues(learning: bool) -> Iterator[tuple[str, str, list[TurnRecorded]]]:
    """The author, the topic and the turns of each dialogue that was written for titles."""
    for path in sorted((VOICES / "titles").glob("*/*.json")):
        if (path.parent.name in MEASURING) is not learning:
            for dialogue in json.loads(path.read_text("utf-8"))["dialogues"]:
                first = dialogue["turns"][0]["who"]
                said = [
                    ("#Person1#" if turn["who"] == first else "#Person2#", turn["text"]) for turn in dialogue["turns"]
                ]
                yield path.parent.name, dialogue["topic"], recorded(said)


def recorded(said: Iterable[tuple[str, str]]) -> list[TurnRecorded]:
    """The turns of a dialogue of a user and an assistant."""
    return [event for event in session_of(said) if isinstance(event, TurnRecorded)]


def examples(efforts: Iterable[Effort], of_use: set[str]) -> Iterator[Example]:
    """The words of the first turns of efforts. Adds the signals of use to `of_use`."""
    for one in efforts:
        called = frozenset(stems(one.called))
        brief = bool(one.texts) and len(one.texts[0].split()) < naming.BRIEF_BELOW
        told = [topics.told(text, place, brief) for place, text in enumerate(one.texts)]
        use = {stem: naming.used(*how, brief) for stem, how in naming.uses_of([text.used for text in told], one.uses)}
        of_use.update(*use.values())
        for place, text in enumerate(one.texts):
            for words, stem_of, signals in topics.signals(text, place, brief):
                for word, stem, seen in zip(words, stem_of, signals, strict=True):
                    label = not called.isdisjoint(stems(word))
                    yield Example([*seen, *use.get(stem, ())], label, one.author, one.weight)


def install(weights: Weights, of_use: set[str]) -> dict[str, Weights]:
    """Weights as a file has them; titles are made by them from now on."""
    bias, of = weights
    acts = {
        "seen": (bias, {name: weight for name, weight in of.items() if name not in of_use}),
        "used": (0, {name: weight for name, weight in of.items() if name in of_use}),
    }
    table = {"version": 2, "bias": {"seen": bias, "used": 0}, "weights": {act: of for act, (_, of) in acts.items()}}
    learned = Learned(lambda: table)
    naming.of_seen, naming.of_used = learned.only("seen"), learned.only("used")
    topics.told.cache_clear()
    naming.points_of_use.cache_clear()
    return acts


def likeness(efforts: Iterable[Effort]) -> dict[str, list[float]]:
    """ROUGE-1 F1 of titles and what people called the work, by source."""
    found: dict[str, list[float]] = defaultdict(list)
    for one in efforts:
        title = topics.title(one.texts, one.uses, one.people)
        found[one.source].append(rouge(1, stems(title), stems(one.called)))
    return found


def means(found: dict[str, list[float]]) -> str:
    """Their means, in percent."""
    return ", ".join(f"{source} {100 * sum(of) / len(of):.1f} of {len(of)}" for source, of in found.items())


def main() -> None:
    """Prints what titles are worth, and writes the weights where that is asked for."""
    learning = [effort(*one, whole) for one in given(True) for whole in (True, False)]
    whole = learning[::2]
    print("in use, learned on:", means(likeness(whole)), flush=True)
    of_use: set[str] = set()
    table = Table(examples(learning, of_use))
    if "--crossed" in sys.argv:
        crossed: dict[str, list[float]] = defaultdict(list)
        for out in parts(one.author for one in whole):
            install(table.fit(out, STRENGTH, many=False), of_use)
            for source, of in likeness(one for one in whole if one.author in out).items():
                crossed[source] += of
        print("crossed:", means(crossed), flush=True)
    acts = install(table.fit((), STRENGTH, many=False), of_use)
    print("learned on:", means(likeness(whole)))
    print("others:", means(likeness(effort(*one, True) for one in given(False))))
    if "--write" in sys.argv:
        write(WORDS, 2, acts)


if __name__ == "__main__":
    main()
