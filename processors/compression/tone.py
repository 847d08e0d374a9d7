"""The tone of a turn, by its words: a small scale, and a hint, no more."""

from __future__ import annotations

from streams.core.text import Text
from streams.core.text.terms import WORDS

STEM = 2
"""Of a word: its stem; see `streams.core.text.terms.Word`."""
_GLAD = """
amazing appreciate awesome beautiful brilliant celebrate cheerful congratulations delighted delightful enjoy enjoyed
enthusiastic excellent excited exciting fabulous fantastic fun glad grateful happy hilarious impressive joy kind laugh
laughing love loved lovely lucky marvellous nice perfect pleased pleasure proud relaxed relieved satisfied smile success
superb terrific thankful thrilled wonderful yay
freut froh glücklich super toll wunderbar zufrieden ausgezeichnet content génial heureux heureuse merveilleux parfait
ravi alegre contento encantado estupendo excelente feliz genial maravilloso perfecto
"""
_SORE = """
afraid angry annoyed annoying anxious ashamed awful broken complain complaint confused confusing crying damn depressed
desperate disappointed disappointing disaster disgusting dreadful embarrassed exhausted fail failed failure fear
frightened frustrated frustrating furious guilty hate hated helpless hopeless horrible hurt insulting jealous lonely
lost mad mess miserable nervous nightmare pain painful panic problem ridiculous rude sad scared shame shocked sick
stressed stressful struggle stuck stupid suffer terrible terrified tired unacceptable unfair unhappy upset
urgent useless worried worry worse worst wrong
ärgerlich enttäuscht furchtbar schlimm schrecklich traurig wütend déçu fâché horrible malheureux triste énervé
decepcionado enfadado enojado terrible triste
"""
GLAD, SORE = (frozenset(filter(None, (WORDS[word][STEM] for word in words.split()))) for words in (_GLAD, _SORE))
_THANKS = frozenset(("thanks", "closing"))


def tone(text: Text) -> int | None:
    """1 for a positive turn, -1 for a negative one, None for one without a tone, or with both."""
    glad = not GLAD.isdisjoint(text.terms) or not _THANKS.isdisjoint(text.cues)
    sore = not SORE.isdisjoint(text.terms)
    return None if glad == sore else 1 if glad else -1
