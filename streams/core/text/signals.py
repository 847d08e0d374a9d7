"""What is seen of the words of a text: signals that learned weights decide by (see learned).

    remind            a word                        remind me      two words that follow each other
    hold * to         two with one between          ^ tell         the first word of a sentence
    please $          the last of one               ?  !           how sentences end
    words:4           a text of about so many       by:user        who says it
    < remind          in the first sentence         > done $       in the last one
    sentences:2       a text of so many, 5 at most

Words are folded ("I'll", "il" and "i will" alike); numbers stand for "#" and times, in pairs, for their kind.
Scripts without spaces give pairs of characters. Each signal counts once in a text. Beyond MOST words nothing is read.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from itertools import chain

from streams.core.patterns import lazily
from streams.core.text.cues import FOLDED, UNSPACED
from streams.core.text.memo import Memo
from streams.core.text.times import KINDS as TIME_KINDS

MOST = 400
"""Words read of a text: half at its beginning, half at its end."""
MOST_SENTENCES = 5
"""Beyond so many sentences they are not told apart by number."""
MAX_WORD = 24
_PART = lazily(r"[^\W_]+")
_CLOCK = lazily(r"\d{1,2}[:.h]\d\d(?:am|pm|uhr)?|\d{1,2}(?:am|pm|h|uhr)")
_ORDINAL = lazily(r"\d{1,2}(?:st|nd|rd|th|er)")
_ENDS = lazily(r"[.!?;…。！？][)\"'”’*_]*$")

_SPELLED = {
    "im": "i am", "ill": "i will", "il": "i will", "ive": "i have", "id": "i would", "dont": "do not", "isnt": "is not",
    "didnt": "did not", "doesnt": "does not", "cant": "can not", "cannot": "can not", "wont": "will not",
    "wasnt": "was not", "havent": "have not", "hasnt": "has not", "wouldnt": "would not", "couldnt": "could not",
    "shouldnt": "should not",
    "arent": "are not", "thats": "that is", "its": "it is", "theres": "there is", "whats": "what is", "lets": "let us",
    "youll": "you will", "theyll": "they will", "itll": "it will", "shell": "she will", "hes": "he is",
    "shes": "she is", "theyre": "they are", "youre": "you are", "weve": "we have", "gotta": "have to", "u": "you",
    "ur": "your", "pls": "please", "plz": "please", "tmrw": "tomorrow", "tmr": "tomorrow", "tomoz": "tomorrow",
    "tomorow": "tomorrow", "2moro": "tomorrow", "w": "with", "n": "and", "wanna": "want to", "gonna": "going to",
    "mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "thu": "thursday", "thur": "thursday",
    "thurs": "thursday", "fri": "friday", "sat": "saturday", "satday": "saturday", "thanx": "thanks", "thx": "thanks",
    "ye": "yes", "yeah": "yes", "yep": "yes", "yeh": "yes", "yup": "yes", "aye": "yes", "nope": "no", "nah": "no",
}  # fmt: skip
"""Short and careless spellings, which stand for the full words."""
_FULL = {word: tuple(full.split()) for word, full in _SPELLED.items()}
Seen = tuple[tuple[str, ...], tuple[str, ...], str]
"""Of a written word: its folded words, what each stands for beside others; "?", "!" or "." where it ends a sentence."""


def _look(raw: str) -> Seen:
    ends = _ENDS.search(raw)
    mark = str(ends[0]) if ends else ""
    end = "?" if "?" in mark or "？" in mark else "" if mark == "" else "!" if mark[0] in "!！" else "."
    folded = unicodedata.normalize("NFC", raw.casefold()).translate(FOLDED)
    words: list[str] = []
    kinds: list[str] = []
    if _CLOCK.fullmatch(folded.strip(".,!?;:()")):
        return ("#",), ("<clock>",), end
    for part in _PART.findall(folded):
        if wide := UNSPACED.findall(part):
            for run in wide:
                words += [run] if len(run) == 1 else [run[at : at + 2] for at in range(min(len(run), 2 * MOST) - 1)]
            kinds = [""] * len(words)
            continue
        for word in _FULL.get(part, (part[:MAX_WORD],)):
            if word[0].isdigit():
                kind = "<ordinal>" if _ORDINAL.fullmatch(word) else "<clock>" if _CLOCK.fullmatch(word) else "#"
                word = "#"
            else:
                kind = TIME_KINDS.get(word) or word
            words.append(word)
            kinds.append(kind)
    return tuple(words), tuple(kinds), end


_WORDS = Memo(_look, longest=3 * MAX_WORD)


def _kinds_of(raw: str) -> tuple[str, ...]:
    words, kinds, _ = _look(raw)
    return tuple([kind for kind in (*words, *kinds) if kind[:1] in ("<", "#")])


_KINDS = Memo(_kinds_of, longest=3 * MAX_WORD)


def folded(content: str) -> list[str]:
    """The words of a text, folded."""
    return [word for raw in content.split() for word in _WORDS[raw][0]]


def ending(word: str, ends: Iterable[str]) -> str:
    """The first of some ends that a word has, behind three letters of its own at least; "" where it has none."""
    return next((end for end in ends if word.endswith(end) and len(word) > len(end) + 2), "")


def kinds(content: str) -> list[str]:
    """Of what kinds a text's words are besides words, each once: numbers, times, days of the week."""
    return [*dict.fromkeys(chain.from_iterable(map(_KINDS.__getitem__, content.split())))]


def signals(content: str, role: str = "user") -> list[str]:
    """The signals of a text, each once."""
    return _all(*_read(content), role)


def placed(content: str, role: str = "user") -> tuple[list[str], list[str]]:
    """The signals of a text, each once; and what its first and its last sentence have: people open something where
    they begin to speak, and end something where they end."""
    sentences, apart = _read(content)
    where = [f"sentences:{min(len(sentences), MOST_SENTENCES)}"]
    if sentences:
        where += [f"< {one}" for one in dict.fromkeys(sentences[0])]
        where += [f"> {one}" for one in dict.fromkeys(sentences[-1])]
    return _all(sentences, apart, role), where


def _read(content: str) -> tuple[list[list[str]], list[str]]:
    """The words and pairs of each sentence; and of all, how many words there are and pairs with one word between."""
    raw = (content.replace("\n", " . ") if "\n" in content else content).split()
    if len(raw) > MOST:
        raw = raw[: MOST // 2] + raw[-MOST // 2 :]
    own: list[str] = []
    sentences = [own]
    apart: list[str] = []
    last = before = "^"
    count = 0
    for words, kinds, end in map(_WORDS.__getitem__, raw):
        for word, kind in zip(words, kinds, strict=True):
            own.append(word)
            if kind:
                own.append(f"{last} {kind}")
                if last != "^":
                    apart.append(f"{before} * {kind}")
                last, before = kind, last
            count += 1
        if end:
            if last != "^":
                own.append(f"{last} $")
            own.append(end)
            last = before = "^"
            if len(own) > 1:  # more than a mark
                own = []
                sentences.append(own)
    if last != "^":
        own.append(f"{last} $")
    if not own:
        sentences.pop()
    apart.append(f"words:{(count + 1).bit_length()}")
    return sentences, apart


def _all(sentences: list[list[str]], apart: list[str], role: str) -> list[str]:
    return [*dict.fromkeys(chain(*sentences, apart)), f"by:{role}"]
