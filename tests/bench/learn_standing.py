"""Learns which sentences of a user's turn hold from then on (streams/core/text/standing.json).

    python -m tests.bench.learn_standing [--write]
    python -m tests.bench.learn_standing --measure        the weights that are written, on authors that only measure
    python -m tests.bench.learn_standing --show 60        what they find in the ordinary voices, by chance

Learns from short stretches of talk whose authors marked the turns in which something stands, and those that only look
alike (tests/voices/standing); from sentences that a maintainer wrote (sentences/standing.en.txt: "+" stands, "-" does
not); from the ordinary voices and friends' chats, in which nearly nothing stands: of the former, those turns that such
weights find likeliest were judged by a maintainer (sentences/standing.jsonl), of the others the likeliest and some by
chance count less, as nobody judged them; and in the same way from errands, in which what is wanted is wanted once. A
mark is on a turn: of its sentences the likeliest is taken for the one that is meant, in two rounds, by what it shares
with the author's note.

Four kinds of authors: of most, what stands and what only looks alike are as many, and no keyword tells them apart; of
eight (sn?), it is said as people say it in months of ordinary work ("ok. and never push to main here"), mostly plainly;
of eight (sl?), it is taken back later (`lifts`), or seems to be; and of lives (see quality_lives), talk of months, all
is marked, by their authors or by readers. Without the second kind, "always" and "never" told nothing; the last taught
more than any other, and that an answer tells much: where it takes note of something ("noted: ..."), it stands.

What they are worth once answered, each author left out of learning: in English P .90 and R .69 from the score -47 on,
.80 and .80 from -136 on; in German .90 and .55, .80 and .74; in Spanish .90 and .57, .80 and .78; in French .90 and
.49, .80 and .73. Of the plain sentences .90 and .77. Of the ordinary voices' turns, in which nearly nothing stands, 16
of 1,000 are found from -98 on by weights that saw none of theirs.
The threshold, -100, lies between: a wrong line in every context is worse than a missed one. Of authors who only
measure, once answered: in English P .85 and R .73, in German .89 and .79, in Spanish .86 and .74, in French .81 and
.81; of seven lives .81 and .66. Before errands were learned from, these were the same, and of 804 turns to an airline's
agent, in runs that were not learned from, 68 were found, nearly all wrongly: now one is; of 1,207 turns of DialogSum
43: now 28.
Kinds (a rule, a manner, a choice, a person) are not learned, nor what takes one back: of pairs of a later turn and what
it shares words with, crossed by author, .30 of what is taken back was found at .66 precision, of authors who only
measure .16 at .53, and to ask it of each turn took a quarter of a fold.
"""

from __future__ import annotations

import json
import random
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import streams.core.text.standing as module
from streams.core.events import TurnRecorded
from streams.core.text.acts import acting, signals_of
from streams.core.text.standing import BEFORE, after_signals, before_signals, by_itself, doing, sentence_signals
from streams.core.text.statements import stating
from streams.core.text.terms import terms
from tests.bench.learn_contradictions import chats
from tests.bench.learn_titles import given
from tests.bench.learning import Example, Weights, best, fit, parts, reliability, score, write
from tests.bench.quality_conclusions import runs
from tests.bench.quality_lives import LIVES, turns
from tests.bench.quality_lives import MEASURING as ONLY_MEASURING
from tests.bench.voices import MEASURING, VOICES, conversations

PATH = Path(module.__file__).with_name("standing.json")
VERSION = 1
STRENGTH, GROUPS = 0.2, 3
"""Few authors marked anything: weights are drawn to nothing, and three must have a signal."""
ALIKE, JUDGED, UNJUDGED = 0.5, 3.0, 1.0
"""How much a sentence of a turn counts that looks alike, was judged, or was judged by nobody."""
ALL = ("ordinary", "friends", "errands")
"""Sides of which not all is learned from."""
COUNTS = {"marked": 1.0, "plain": 1.0, "judged": JUDGED, **dict.fromkeys(ALL, UNJUDGED)}
MEANT = 150
"""What a word is worth that a sentence shares with the author's note, in hundredths."""
LANGUAGES = ("en", "de", "es", "fr")
TONGUES = {"tischler": "de", "kita": "de", "hofladen": "de", "bodega": "es", "refuge": "fr"}
"""Lives in another language than English."""
CHANCE, HARD = 80, 3500
"""Turns of the ordinary voices that are learned from: of a thousand by chance, and the likeliest of the others."""
GATE = 0.25
"""Strength of the weights that tell which turns are read closely."""
LEFT = 250
"""Whatever is so much less likely than what stands, in hundredths, need not be read closely."""
SPARSE = 15
"""Weights of a whole turn below it are left out: there are many turns to be looked at, and few to be found."""


Both = tuple[Weights, Weights]
"""The weights of what is said in passing, and in words of its own."""


@dataclass
class Said:
    """A user's turn."""

    id: str
    author: str
    text: str
    before: str = ""
    """What was answered last in its session."""
    after: str = ""
    """What answers it."""
    stands: bool = False
    alike: bool = False
    note: str = ""
    """What its author says that stands."""
    side: str = "marked"
    language: str = "en"
    sentences: list[str] = field(default_factory=list)
    seen: list[list[str]] = field(default_factory=list)
    """Of each sentence."""
    whole: list[str] = field(default_factory=list)
    """Of the turn."""
    heard: list[list[str]] = field(default_factory=list)
    """Of each sentence, what is seen of the answer."""
    score: int = -10_000
    at: int = 0
    """Which sentence has that score."""
    told: int = -10_000
    """The score once it is answered."""

    def __post_init__(self) -> None:
        whole, places = signals_of(self.text, "user")
        does = doing(acting(whole + places), stating(whole, self.text)[0])
        spans = module.places(self.text)
        self.whole = whole
        self.sentences = [self.text[start:end].strip() for start, end in spans]
        self.seen = [
            [*sentence_signals(sentence, place, len(spans)), *does, *before_signals(sentence, self.before)]
            for place, sentence in enumerate(self.sentences)
        ]
        self.heard = [after_signals(sentence, self.after) for sentence in self.sentences]

    def weigh(self, weights: Both) -> None:
        """Its likeliest sentence."""
        scores = [
            max(score(weights[0], seen), score(weights[1], by_itself(seen)) - module.apart(sentence, len(self.seen)))
            for sentence, seen in zip(self.sentences, self.seen, strict=True)
        ]
        self.score = max(scores, default=-10_000)
        self.at = scores.index(self.score) if scores else 0
        self.told = max([
            self.score,
            *(score(weights[0], seen + heard) for seen, heard in zip(self.seen, self.heard, strict=True)),
        ])  # fmt: skip


def marked(learning: bool) -> Iterator[Said]:
    """What was written for it."""
    for path in sorted((VOICES / "standing").glob("*/*.json")):
        author = path.parent.name
        if (author in MEASURING) is learning:
            continue
        voice = json.loads(path.read_text("utf-8"))
        for snippet in voice["snippets"]:
            before = ""
            for turn, answer in zip_longest(snippet["turns"], snippet["turns"][1:]):
                note = turn.get("standing", "")
                if turn["role"] == "user":
                    if not note and turn.keys() & {"lifts", "keeps"}:
                        continue  # what is told of a rule is hardly another one, and hardly none
                    yield Said(
                        f"{author}/{turn['id']}",
                        author,
                        turn["text"],
                        before,
                        answer["text"] if answer and answer["role"] != "user" else "",
                        stands=bool(note),
                        alike=bool(turn.get("once")),
                        note=note,
                        language=voice["language"],
                    )
                else:
                    before = turn["text"][:BEFORE]


def lived(learning: bool) -> Iterator[Said]:
    """The lives (see quality_lives) whose turns somebody marked who saw neither rules nor what is asked of them."""
    for path in sorted(LIVES.glob("*.standing.json")):
        life = path.name.partition(".")[0]
        if (life in ONLY_MEASURING) is learning:
            continue
        marks, talk = json.loads(path.read_text("utf-8")), turns(life)
        answers = answered([(turn.session, turn.role, turn.content) for turn in talk])
        for turn, (before, after) in zip(talk, answers, strict=True):
            if turn.role == "user":
                mark = marks.get(turn.id, {})
                note, alike = mark.get("standing", ""), bool(mark.get("once"))
                yield Said(
                    f"lives/{turn.id}", life, turn.content, before, after, bool(note), alike, note,
                    language=TONGUES.get(life, "en"),
                )  # fmt: skip


def answered(said: Sequence[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Of each turn (session, role, text): what was answered last before it, and what answers it where it is the last
    that was said before that."""
    found, last, asked = [("", "") for _ in said], dict[str, str](), dict[str, int]()
    for place, (session, role, text) in enumerate(said):
        found[place] = (last.get(session, ""), "")
        if role == "assistant":
            last[session] = text[:BEFORE]
            if session in asked:
                at = asked.pop(session)
                found[at] = (found[at][0], text[:BEFORE])
        elif role == "user":
            asked[session] = place
    return found


def plain() -> Iterator[Said]:
    """Sentences of a maintainer."""
    for number, line in enumerate((VOICES / "sentences" / "standing.en.txt").read_text("utf-8").splitlines()):
        yield Said(f"plain/{number}", f"plain {number % 8}", line[2:], "", "", line[0] == "+", False, line[2:], "plain")


def ordinary() -> Iterator[Said]:
    """The ordinary voices, of the languages that are learned."""
    rows = map(json.loads, (VOICES / "sentences" / "standing.jsonl").read_text("utf-8").splitlines())
    judged = {(r["author"], r["voice"], r["conversation"], r["turn"]): r for r in rows}
    for one in conversations(True):
        if one.language not in LANGUAGES:
            continue
        answers = answered([(turn["session"], turn["role"], turn["text"]) for turn in one.turns])
        for turn, (before, after) in zip(one.turns, answers, strict=True):
            if turn["role"] == "user":
                row, side = judged.get((one.author, one.voice, one.name, turn["id"])), "ordinary"
                if row:
                    side = "judged"
                yield Said(
                    f"{one.author}/{one.voice}/{one.name}/{turn['id']}", one.author, turn["text"], before, after,
                    bool(row and row["stands"]), False, (row or {}).get("sentence", ""), side,
                )  # fmt: skip


def friends() -> Iterator[Said]:
    """Friends' chats: nearly nothing stands in them for an assistant."""
    for talk in chats():
        yield from (Said(f"{said.space}/{said.id}", said.space, said.content, side="friends") for said in talk)


def errands(learning: bool) -> Iterator[Said]:
    """Short dialogues in which somebody is served, asks or plans: what is wanted there is wanted once. Those that were
    written for titles (see learn_titles), and where the data is there, every other one of DialogSum and airline run."""
    for source, author, _, said in given(learning):
        if source != "voices":
            yield from _errand(author, said)
    for number, run in enumerate(runs()):
        if (number % 2 == 0) is learning:
            yield from _errand("airline", run.turns)


def _errand(author: str, talk: Sequence[TurnRecorded]) -> Iterator[Said]:
    answers = answered([(turn.session, turn.role, turn.content) for turn in talk])
    for turn, (before, after) in zip(talk, answers, strict=True):
        if turn.role == "user":
            id = f"{author}/{turn.session}/{turn.id}/{zlib.crc32(turn.content.encode())}"
            yield Said(id, author, turn.content, before, after, side="errands")


def by_chance(said: Said) -> bool:
    """A share of turns that is always the same."""
    return zlib.crc32(said.id.encode()) % 1000 < CHANCE


def meant(said: Said, weights: Both | None) -> int:
    """The sentence of a turn in which something stands that its author meant."""
    note = {*terms(said.note)[0]}
    value = [
        MEANT * len(note.intersection(terms(sentence)[0])) + (score(weights[0], seen) if weights else 0)
        for sentence, seen in zip(said.sentences, said.seen, strict=True)
    ]
    return value.index(max(value)) if value else -1


def examples(told: Iterable[Said], weights: Both | None, answers: bool = True) -> Iterator[Example]:
    """Sentences, of those that were answered both with the answer and without: each must do alone. The others of a turn
    in which something stands are neither."""
    for said in told:
        at = meant(said, weights) if said.stands else -1
        some = slice(at, at + 1) if said.stands else slice(None)
        counts = 1.0 if said.stands else ALIKE if said.alike else COUNTS[said.side]
        for seen, heard in zip(said.seen[some], said.heard[some], strict=True):
            yield Example(seen, said.stands, said.author, counts)
            if heard and answers:
                yield Example(seen + heard, said.stands, said.author, counts)


def learn(told: list[Said], first: Both | None) -> Both:
    """The weights of sentences; `first`: those of the round before.

    Of what a plain sentence is around, nothing is learned of what is said in passing: it stands in no turn."""
    found = examples(told, first)
    passing = [e._replace(signals=alone(e.signals)) if e.group.startswith("plain") else e for e in found]
    plain = [e._replace(signals=by_itself(e.signals)) for e in examples(told, first, answers=False)]
    return fit(passing, STRENGTH, GROUPS), fit(plain, STRENGTH, GROUPS)


def alone(seen: Iterable[str]) -> list[str]:
    """The signals of a sentence that stands in no turn."""
    return [one for one in by_itself(seen) if not one.startswith(("act", "state"))]


def hard(told: list[Said]) -> tuple[list[Said], Both]:
    """What is learned from, and the weights of a first round."""
    some = [said for said in told if said.side not in ALL or by_chance(said)]
    first = learn(some, learn(some, None))
    others = [said for said in told if said.side in ALL and not by_chance(said)]
    for said in others:
        said.weigh(first)
    return [*some, *sorted(others, key=lambda said: -said.score)[:HARD]], first


def crossed(told: list[Said], taught: list[Said], first: Both) -> None:
    """Weighs each turn by weights that did not see its author."""
    for out in parts(said.author for said in told):
        weights = learn([said for said in taught if said.author not in out], first)
        for said in told:
            if said.author in out:
                said.weigh(weights)


def told_of(mine: list[Said], others: Mapping[str, list[Said]]) -> None:
    """Prints what the scores are worth; `others`: sides in which nearly nothing stands."""
    scores, labels = [said.score for said in mine], [said.stands for said in mine]
    print(f"{len(mine)} turns, something stands in {sum(labels)}")
    for precision in (0.9, 0.8):
        threshold, right, recall = best([said.told for said in mine], labels, precision)
        print(f"  once answered, from {threshold} on: P {right:.2f} R {recall:.2f}")
    for precision in (0.95, 0.9, 0.85, 0.8, 0.7):
        threshold, right, recall = best(scores, labels, precision)
        line = f"  from {threshold} on: P {right:.2f} R {recall:.2f}"
        for side, told in others.items():
            found = [said for said in told if said.score >= threshold]
            judged = sum(said.side == "judged" for said in found)
            line += f"; {side}: {1000 * len(found) / max(1, len(told)):.2f} of 1,000"
            line += f" ({sum(said.stands for said in found)} of {judged} judged)" if judged else ""
        print(line)
    print("reliability", [(f"{a:.2f}", f"{b:.2f}", n) for a, b, n in reliability(scores, labels)])


def gate(told: list[Said], weights: Both, sure: int) -> Weights:
    """Weights by which a look at a whole turn tells whether to read its sentences: moved so that nearly none is missed
    that the weights of sentences find."""
    for said in told:
        said.weigh(weights)
    rows = [Example(said.whole, said.score >= sure - LEFT, said.author) for said in told]
    bias, found = fit(rows, GATE, GROUPS)
    found = {signal: weight for signal, weight in found.items() if abs(weight) >= SPARSE}
    values = sorted(score((bias, found), said.whole) for said in told if said.score >= sure - LEFT // 4)
    return bias - values[len(values) // 50], found


def written(told: list[Said]) -> None:
    """Weighs turns by the weights that are written, as they are where it counts."""
    for said in told:
        whole, places = signals_of(said.text, "user")
        flat = module.lasting(said.text, whole, acting(whole + places), stating(whole, said.text)[0])
        said.score = said.told = -10_000
        for passing, plainly, start, end in zip(*(flat[at::4] for at in range(4)), strict=True):
            sentence = said.text[start:end]
            value = module.weighed(passing, plainly, sentence, said.before)
            if value > said.score:
                said.score, said.at = value, said.sentences.index(sentence.strip())
            heard = module.weighed(passing + module.answered(sentence, said.after), plainly, sentence, said.before)
            said.told = max(said.told, said.score, heard)


def main() -> None:
    """Prints what the weights are worth; writes them with --write."""
    from processors.standing import PROCESSOR

    sure = PROCESSOR.params().sure
    if "--measure" in sys.argv:
        everyone = [*marked(False), *lived(False)]
        written(everyone)
        for language in LANGUAGES:
            mine = [said for said in everyone if said.language == language]
            for what, over in (
                ("", [s for s in mine if s.score >= sure]),
                ("answered ", [s for s in mine if s.told >= sure]),
            ):
                right, of = sum(said.stands for said in over), sum(said.stands for said in mine)
                print(f"{language}: {what}P {right / max(1, len(over)):.2f} R {right / of:.2f}, {len(over)} found")
                print(f"  looking alike: {sum(said.alike for said in over)}")
        served = [*errands(False)]
        written(served)
        for author in sorted({said.author for said in served}):
            told_there = [said.told for said in served if said.author == author]
            print(f"errands of {author}: {sum(told >= sure for told in told_there)} found in {len(told_there)} turns")
        return
    everyday, chat, served = [*ordinary()], [*friends()], [*errands(True)]
    if "--show" in sys.argv:
        for side in (everyday, chat, served):
            written(side)
            found_ones = [said for said in side if said.score >= sure]
            print(f"{len(found_ones)} of {len(side)}: {1000 * len(found_ones) / len(side):.2f} of 1,000")
            random.Random(1).shuffle(found_ones)
            for said in found_ones[: int(sys.argv[sys.argv.index("--show") + 1])]:
                print(f"  {said.score} {said.side} {said.stands} «{' '.join(said.sentences[said.at].split())[:160]}»")
        return
    mine, mine_plain = [*marked(True), *lived(True)], [*plain()]
    told = [*mine, *mine_plain, *everyday, *chat, *served]
    taught, first = hard(told)
    crossed(told, taught, first)
    others = {"ordinary": everyday, "friends": chat, "errands": served}
    for language in LANGUAGES:
        told_of([said for said in mine if said.language == language], others)
    told_of(mine_plain, {})
    if "--next" in sys.argv:
        for said in sorted([s for s in everyday if s.side == "ordinary"], key=lambda s: -s.score)[:200]:
            print(json.dumps([said.id, said.score, said.sentences[said.at], said.text, said.before]))
    if "--write" in sys.argv:
        both = learn(taught, first)
        (bias, weights), plainly = both
        before, after = (
            {signal: weight for signal, weight in weights.items() if signal.startswith(begins)}
            for begins in (("b ", "b:"), ("re ", "re:"))
        )
        own = {signal: weight for signal, weight in weights.items() if signal not in before | after}
        may = gate(told, both, sure)
        told_by = {"may": may, "passing": (bias, own), "before": (0, before), "after": (0, after), "plain": plainly}
        write(PATH, VERSION, told_by)


if __name__ == "__main__":
    main()
