"""Which sentences of a user's turn may hold from then on: how whoever answers must act or is to answer, lasting
choices, lasting facts of a person ("nothing gets pushed without me reading the diff", "can't, I'm coeliac").

People say such a thing in passing, seldom with "always" or "never", which they use where nothing stands; so learned
weights of many weak signals decide (see learned), of each sentence by itself:

    its words                                       see signals
    k <ill>   k am <ill>   k we _ no   k my & <act>  of what kind they are (standing.toml), in twos and threes beside
                                                    function words, and with who and "not" in the same sentence
    at:last   sentences:2                           where it stands in its turn
    asked:1   reminder:-2                           how much it asks for a reminder (see reminders)
    act0:-2   state1:1                              what the whole turn does and states (see acts, statements)
    b <word>   b:shared:2   b:none                  what was answered last, and how many of its words are taken up
    re <word>   re <word> <word>   re:shared:2      how the answer to it begins ("noted", "understood: never ..."), and
    re:asks                                         how many of its words it takes up; once there is one

The last ones are told by whoever knows the conversation (`weighed`, `answered`). What is said in passing is told by all
of these; what is said in five words of its own ("never force-push") by none that tells how long it is, where it stands
and what it answers: the likelier of both counts. Most turns have no such sentence: a look at the signals of the whole
turn, which are at hand, leaves few to be read so closely (`may`, learned from what the rest finds). Weights:
standing.json, by tests/bench/learn_standing.py, where it is told what they are worth.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise

from streams.core.text.cues import STOP
from streams.core.text.learned import Learned
from streams.core.text.memo import Memo
from streams.core.text.reminders import WEIGHTS as REMINDERS
from streams.core.text.reminders import spans_of
from streams.core.text.signals import ending, folded, signals

WEIGHTS = Learned.load(__package__, "standing.json")
_AFTER = WEIGHTS.only("after")
_REMINDS = {act: REMINDERS.only(act) for act in ("reminder", "asked")}
_MAY, _PASSING, _BEFORE, _PLAIN = (WEIGHTS.only(act) for act in ("may", "passing", "before", "plain"))
MAY = 0
"""From this score on a turn is read sentence by sentence."""
SHORT, FEW = 40, 3
"""Turns of so many characters and spaces at most are read whatever their signals."""
LEAST = -400
"""A sentence below it does not stand, whatever was said before."""
MOST, READ, LONGEST = 2, 12, 50
"""Sentences taken of a turn, the likeliest, and read of it; words of one: a longer one tells many things."""
SIGNALS = 6
"""Signals that are told of a sentence, the strongest."""
BEFORE = 300
"""Characters read of what was answered last, and of the answer."""
BEGINS, EIGHTHS = 12, 4
"""Words of an answer by which it takes note of something, and how long it is told to be, in eights of words."""
AROUND = ("words:", "sentences:", "at:", "by:", "b:", "b ", "re:", "re ")
"""How signals begin that tell how long a sentence is, where it stands, what it answers, and how it is answered."""
APART, ALONE, ALONE_WORDS = 155, -40, 12
"""How much likelier what is said in words of its own must be, in hundredths of log odds: it was learned of such, and
what is said in five words is looked for in all talk. So it is not where it is all that is said: in turns of one
sentence of so many words at most. Crossed by author, of plain sentences .55 are found, not .20, at P .92, and of
ordinary turns 1.7 of 1,000, not 1.4."""
LONG, SHARED = 3, 3
"""Letters of words that say something where they are repeated, and how many are counted."""
_WITH = (
    *("i", "we", "my", "me", "you", "your", "our", "not", "no", "do", "if", "he", "she", "they", "please"),
    *("ich", "wir", "mein", "meine", "mir", "mich", "du", "dir", "uns", "unser", "nicht", "wenn", "bitte"),
    *("yo", "mi", "mis", "me", "nos", "te", "tu", "le", "nada", "ni", "por"),
    *("je", "j", "ma", "mon", "mes", "moi", "vous", "toi", "on", "ne", "n", "pas", "quand"),
)
"""Words by which a kind of word means something else."""
_ENDS = ("ing", "ed", "ly", "s")


@cache
def _kinds() -> tuple[dict[str, str], dict[str, str]]:
    """The kinds of words, and of beginnings of words. Read when a sentence is first looked at: most commands look at
    none."""
    table = tomllib.loads(files(__package__).joinpath("standing.toml").read_text("utf-8"))
    told = [(word, f"<{kind}>") for kind, words in table.items() for word in words.split()]
    whole: dict[str, str] = {}
    begins: dict[str, str] = {}
    for word, kind in told:
        (begins if word.endswith("*") else whole).setdefault(word.rstrip("*"), kind)
    return whole, begins


def _form(word: str) -> str:
    """What a word is: itself where it is a function word, its kind, or how it ends."""
    if word in STOP or word == "#":
        return word
    whole, begins = _kinds()
    if kind := whole.get(word):
        return kind
    for length in range(len(word), 0, -1):
        if kind := begins.get(word[:length]):
            return kind
    return f"_{ending(word, _ENDS)}"


_FORMS = Memo(_form, longest=24)


def formed(words: Sequence[str]) -> list[str]:
    """What of a sentence is alike in other words."""
    forms = [_FORMS[word] for word in words]
    row = ["^", *forms, "$"]
    found = [form for form in dict.fromkeys(forms) if form[0] == "<"]
    beside = [word for word in _WITH if word in words]
    return [*dict.fromkeys([
        *(f"k {form}" for form in found),
        *(f"k {a} {b}" for a, b in pairwise(row)),
        *(f"k {a} {b} {c}" for a, b, c in zip(row, row[1:], row[2:], strict=False)),
        *(f"k {one} & {other}" for at, one in enumerate(found) for other in found[at + 1 :]),
        *(f"k {word} & {form}" for word in beside for form in found),
    ])]  # fmt: skip


def places(content: str) -> list[tuple[int, int]]:
    """Where the sentences of a turn begin and end that are read."""
    return [span for span in spans_of(content)[:READ] if len(content[slice(*span)].split()) <= LONGEST]


def doing(acts: Iterable[int], states: Iterable[int]) -> list[str]:
    """What a whole turn does and states, as signals."""
    return [
        *(f"act{at}:{max(-3, min(3, score // 100))}" for at, score in enumerate(acts)),
        *(f"state{at}:{max(-4, min(3, score // 100))}" for at, score in enumerate([*states][:3])),
    ]


def sentence_signals(sentence: str, place: int, count: int) -> list[str]:
    """What is seen of a sentence of a user's turn, by itself, and of where it stands in its turn."""
    seen = signals(sentence)
    where = "last" if place == count - 1 else "between" if place else "first"
    reminds = [f"{act}:{max(-4, min(3, score(seen) // 100))}" for act, score in _REMINDS.items()]
    return [*seen, *formed(folded(sentence)), *reminds, f"at:{where}", f"sentences:{min(count, 4)}"]


def by_itself(seen: Iterable[str]) -> list[str]:
    """The signals that do not tell how long a sentence is, where it stands, and what it answers."""
    return [signal for signal in seen if not signal.startswith(AROUND)]


def apart(sentence: str, count: int) -> int:
    """What is taken off the score of a sentence in words of its own, in a turn of so many sentences."""
    return ALONE if count == 1 and len(sentence.split()) <= ALONE_WORDS else APART


def before_signals(sentence: str, before: str) -> list[str]:
    """What is seen of what was answered last."""
    if not before:
        return ["b:none"]
    words = dict.fromkeys(folded(before[:BEFORE]))
    return [*(f"b {word}" for word in words), f"b:shared:{_shared(sentence, words)}"]


def _shared(sentence: str, words: Collection[str]) -> int:
    """How many words of a sentence that say something are among others; no more than count."""
    return min(sum(word in words for word in {*folded(sentence)} - STOP if len(word) > LONG), SHARED)


def after_signals(sentence: str, answer: str) -> list[str]:
    """What is seen of the answer to a sentence; nothing where there is none."""
    if not answer:
        return []
    words = folded(answer[:BEFORE])
    begins = words[:BEGINS]
    return [*dict.fromkeys([
        *(f"re {word}" for word in begins), *(f"re {a} {b}" for a, b in pairwise(["^", *begins])),
        f"re:shared:{_shared(sentence, {*words})}", f"re:words:{min(len(words) // 8, EIGHTHS)}",
        *["re:asks"] * ("?" in answer),
    ])]  # fmt: skip


def lasting(content: str, seen: Iterable[str], acts: Sequence[int], states: Sequence[int]) -> list[int]:
    """The sentences of a user's turn that may stand: how likely each is in passing, by what itself and its turn tell,
    how likely in words of its own; its start and its end; flattened, the likeliest first.

    `seen` are the signals of the turn (see acts)."""
    few = len(content) <= SHORT and content.count(" ") <= FEW  # of few words there is little to be seen
    if not few and _MAY(seen) < MAY:
        return []
    does = doing(acts, states)
    spans = places(content)
    found = []
    for place, (start, end) in enumerate(spans):
        sentence = content[start:end]
        told = sentence_signals(sentence, place, len(spans)) + does
        passing, plain = _PASSING(told), _PLAIN(by_itself(told)) - apart(sentence, len(spans))
        if max(passing, plain) >= LEAST:
            found.append((passing, plain, start, end))
    best = sorted(found, key=lambda one: -max(one[:2]))[:MOST]
    return [value for one in best for value in one]


def weighed(passing: int, plain: int, sentence: str, before: str) -> int:
    """The score of a sentence, by what `lasting` tells of it, where `before` was answered last."""
    return max(in_passing(passing, sentence, before), plain)


def in_passing(passing: int, sentence: str, before: str) -> int:
    """The same of what is said in passing alone."""
    return passing + _BEFORE(before_signals(sentence, before))


def answered(sentence: str, answer: str) -> int:
    """What the answer to a sentence adds to its score in passing."""
    return _AFTER(after_signals(sentence, answer))


def why_answered(sentence: str, answer: str) -> list[str]:
    """The strongest signals of an answer, and what each weighs."""
    return _strongest(WEIGHTS.why(after_signals(sentence, answer), "after"))


def why(content: str, start: int, end: int, does: list[str], before: str) -> list[str]:
    """The strongest signals of a sentence of a turn, and what each weighs; `does`: what the turn does and states."""
    sentence, spans = content[start:end], places(content)
    place = next((at for at, span in enumerate(spans) if span[0] == start), 0)
    seen = sentence_signals(sentence, place, len(spans)) + does
    passing = [*WEIGHTS.why(seen, "passing"), *WEIGHTS.why(before_signals(sentence, before), "before")]
    alone = _PLAIN(by_itself(seen)) - apart(sentence, len(spans))
    sure = weighed(_PASSING(seen), alone, sentence, before)
    told = WEIGHTS.why(by_itself(seen), "plain") if sure == alone else passing
    return _strongest(told)


def _strongest(told: list[tuple[str, int]]) -> list[str]:
    told.sort(key=lambda one: (-abs(one[1]), one[0]))
    return [f"{signal} {weight:+d}" for signal, weight in told[:SIGNALS]]
