"""Which sentences are worth keeping beyond their session, as what, and how much.

A sentence lasts where it says of its speaker, or of something with a name or a number, how it is or how they want it.
It does not where it holds for the moment ("right now", "I need the reservation ID"), only says how somebody feels
about the talk, cannot be understood alone ("that was it"), or is courtesy.
"""

from __future__ import annotations

import re

from processors.long_term.events import Kind
from streams.core.patterns import lazily
from streams.core.text.commonness import CLASSES, LIGHT
from streams.core.text.marks import Marks
from streams.core.text.telling import Told
from streams.core.text.terms import terms

MARKS = (
    "prefer",
    "always",
    "never",
    "from now on",
    "call me",
    "allerg",
    "rather",
    "favo",
    "immer",
    "toujours",
    "siempre",
)
"""Parts of a user's turn that may say how it is to be done: others are not read for it."""
MAY_WISH = Marks(*MARKS)
WANTS = lazily(
    r"\b(?:I|we) (?:(?:really|also|just|always|absolutely|both|still|do|would|usually) )*"
    r"(?:prefer|love|like|enjoy|hate|dislike|can['’]t stand|avoid|never)\b(?! to (?:know|see|ask|book|change|cancel))"
    r"|\b(?:my|our) (?:\w+ )?(?:favou?rite|fave|top pick|go-to)\b"
    r"|\bis (?:one of )?my (?:favou?rites?|faves?|top pick)\b"
    r"|\b(?:allergic|allergy|vegetarian|vegan|intolerant)\b|\bcall me (?!back|when|if|later|at|on)\w+"
    r"|\bfrom now on,? (?!I\b)|^(?:please )?(?:always|never) "
    r"(?!had|been|have|has|thought|seen|up|a|an|the|knew|felt|got|in|on|\w+ed\b)\w"
    r"|\bplease (?:always|never)\b"
    r"|\b(?:ich|wir) (?:mag|mögen|bevorzuge\w*|trinke|esse)\b|\bbitte (?:immer|nie)\b"
    r"|\bje (?:préfère|déteste|n['’]aime)\b|\bj['’](?:aime|adore)\b|\b(?:prefiero|me gusta\w?|odio)\b",
    re.IGNORECASE,
)
PASSES = lazily(
    r"\b(?:right now|at the moment|currently|today|tonight|tomorrow|yesterday|this (?:morning|week|afternoon|evening)"
    r"|last (?:week|night)|just|so far|these days|lately|recently|soon|in a few|a while|again|anymore|any more)\b"
    r"|\b(?:I|we)(?: really| also| just| still)?(?:['’]d like| need| want| would (?:like|love)| hope| guess| think)\b"
    r"|\b(?:I|we)(?: really)? (?:believe|wish)\b"
    r"|\b(?:sorry|unfortunately|afraid|appreciate|glad|thankful|grateful|excited|happy|great to|reach out|confus\w+"
    r"|lucky|upset|proud|passionate|tough|crazy|amazing|awesome|priceless|rewarding|faith|emotions?"
    r"|total|remaining|option \d+)\b"
    r"|\b(?:I|we)(?: do| can|['’]m|['’]re)?(?: not|n['’]t)\b.{0,12}\b(?:remember|recall|know|sure|have)\b"
    r"|\bI['’]m (?:off|\w+ing)\b|\bwe['’]re \w+ing\b|\blet me\b|\bplease\b|^only\b"
    r"|\b(?:heute|morgen|gerade|jetzt|aujourd|demain|hoy|mañana)\b",
    re.IGNORECASE,
)
LOOSE = lazily(
    r"\b(?:love|like|enjoy|hate|prefer)\w*(?: \w+ing)? (?:this|that|these|those|them|it|how|when|the way|being|more)\b"
    r"|\b(?:you|your|u)\b|\b(?:stuff|few (?:plans|things)|gonna|memor(?:y|ies))\b",
    re.IGNORECASE,
)
"""What speaks of the talk, or of what was said before, does not stand alone."""
COURTESY = lazily(
    r"\b(?:feel free|reach out|let me know|take care|you['’]re welcome|safe travels|have a (?:great|nice|good)|thank"
    r"|any(?:thing)? (?:else|other questions)|further (?:help|assistance)|glad|happy to|hope you|good luck|congrat"
    r"|weekend|see you|cheers|good (?:night|morning|evening)"
    r"|empathi|apolog|understand (?:your|how|the|that)|let['’]s|proceed\b)",
    re.IGNORECASE,
)
OWN = lazily(r"\b(?:I|I['’]m|I['’]ve|my|we|we['’]ve|our|ich|mein\w*|wir|je|j['’]\w+|mon|ma|mi|yo)\b", re.IGNORECASE)
POINTS = lazily(
    r"^(?:it|that|this|there|they|these|those|he|she|and|but|so|here|which|then|you|as for|\d+(?:st|nd|rd|th),)"
    r"(?!\w)|:$|…$",
    re.IGNORECASE,
)
"""Sentences that stand on what was said before them, or are cut."""
MARKUP = lazily(r"\*\*|__|`{1,3}|^\s*(?:[-*#>]+|\d+[.)])\s+")
STATES = lazily(
    r"\b(?:is|are|am|has|['’]ve got|(?:I|we|they)['’]re|I['’]m|have (?!to\b|the\b|\w+(?:ed|en|ne)\b)|lives?|works?"
    r"|plays?|uses?|needs?|costs?|speaks?|stud(?:y|ies)|runs?|belongs?|means|fails?|cannot|can['’]t|must|born|grew)\b"
    r"|\b(?:ist|sind|hat|habe|haben|heiße|wohne|arbeite|est|sont|habite|travaille|es|son|vivo|trabajo|tengo|tiene)\b"
    r"|[\u3040-\u30ff\u4e00-\u9fff]",
    re.IGNORECASE,
)
"""What says how something is, rather than what was done; other scripts are not read for it."""
LABEL = lazily(r"^[\w'’() -]{2,30}: ")
"""A line of a list, such as "Payment: $172", is no sentence."""
GIVEN, SOLVED, FAILED, WANTED, NAMED, SAID = 12, 10, 6, 5, 2, 1
"""What an entry is worth beside others of its session: one that an agent took down, a solution, ...; what has a name or
a number is worth more."""
LEAST_WORDS, CUT, ENDS = 4, 156, ".!?。！？"
"""Words of a sentence that tells something; bytes from which on one without an end was cut."""


def plain(text: str) -> str:
    """A sentence without marks of lists, headings and stress."""
    return " ".join(MARKUP.sub("", text).split())


def wanted(told: Told) -> bool:
    """Whether a sentence says how its speaker wants it, for good."""
    return bool(WANTS.search(told.text)) and "asks" not in told.features and not _leans(told.text)


def _leans(text: str) -> bool:
    """Whether a sentence needs what was said around it, or lacks its end."""
    return bool(POINTS.search(text) or LOOSE.search(text)) or (len(text.encode()) >= CUT and text[-1] not in ENDS)


def lasting(told: Told) -> tuple[Kind, int] | None:
    """What a sentence that states something is worth keeping as, and how much; None where it is not."""
    text, features = told.text, told.features
    if (len(text.split()) < LEAST_WORDS and text.isascii()) or _leans(text) or "asks" in features:
        return None
    named = "named" in features or any(char.isdigit() for char in text)
    if wanted(told) and not COURTESY.search(text):
        return "preference", WANTED + NAMED * named
    tells = sum(CLASSES[stem] > LIGHT for stem in told.stems)
    if not STATES.search(text) or PASSES.search(text) or COURTESY.search(text) or LABEL.search(text):
        return None
    if not tells or not (named or OWN.search(text)):
        return None
    return "fact", SAID + NAMED * named + (tells > 1)


def solves(told: Told) -> bool:
    """Whether a sentence says what came of it, rather than goodbye."""
    text = told.text
    return not ("asks" in told.features or COURTESY.search(text) or LABEL.search(text)) and bool(told.stems)


def problem(text: str) -> str:
    """What was asked or wrong, where it says so by itself; "" where it only makes sense among its turns."""
    telling = [stem for stem in terms(text)[0] if CLASSES[stem] > LIGHT]
    return text if len(telling) > 1 else ""
