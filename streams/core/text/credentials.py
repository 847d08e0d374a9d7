"""Passwords, tokens and keys in what is said: told by words about them, by what they begin with, or by how they look.

    "The password is hunter2."   "Use ghp_0123… for it."   "xK9fQ2mZ7pL4vB8wT1"   a turn that is "Tr0ub4dor&3" alone

Whoever shows words far from where they were said leaves such out. Nothing that looks random is one for sure: ids of
hexadecimal digits, UUIDs, dates, hosts, paths and numbers of orders are none here. What leaves the house is masked by
another rule (see masking), which lets only plain words through and needs no list of secrets.
"""

from __future__ import annotations

import re
from itertools import pairwise

from streams.core.patterns import lazily

_TOLD = lazily(
    r"passwor[dt]|pass ?phrase|pass ?code|kennwort|zugangsdaten|contraseña|mot de passe|credential|api_?key"
    r"|(?<![^\W_])(?:pwd|pass|pins?|secrets?|tokens?|keys?|schlüssel|geheim\w*|clave|secreto|clés?|jeton)(?![^\W_])"
    r"|://[^\s/@]*:[^\s/@]*@",
    re.IGNORECASE,
)
"""What tells that a password, secret, token, key or PIN is told."""
_ITSELF = lazily(
    r"(?<![^\W_])(?:[srp]k[-_]|whsec_|gh[opsur]_|github_pat_|glpat-|xox[a-z]-|xapp-|A[KS]IA(?=[A-Z0-9])|AIza|ya29\.|hf_"
    r"|gsk_|npm_|pypi-|dop_v1_|shp[a-z]{2}_|SG\.|eyJ|mnemo_)(?=[\w.+/=-]*\d)[\w.+/=-]{12,}"
)
"""Tokens and keys that begin with who gives them."""
_SENTENCE = lazily(r"(?<=[.!?;])\s+|\s*\n\s*")
_DIGIT = lazily(r"\d")
MIXED = 0.45
"""Share of the steps from one character to the next that lead to another kind (small, capital, digit) in what was drawn
at random: of letters and digits .6 do, in names that programs give .3."""
LONG = 16
"""Characters from which on what looks drawn at random is taken for a secret wherever it stands."""
_LONG = lazily(rf"[\w.+/=-]{{{LONG},}}")
_RUN = lazily(rf"(?<![^\W_])[A-Za-z0-9]{{{LONG},}}(?![^\W_])")
_ALONE = lazily(r"[\"'`“”]*([^\s/]{8,64}?)[\"'`“”.,?]*")
_SIGN = lazily(r"[!$%&*?^]")
"""What passwords have in them, and no id, host or date has."""


def is_told(said: str) -> bool:
    """Whether a text tells a secret."""
    return _TOLD.search(said) is not None or any(
        _ITSELF.search(long) is not None or any(_is_random(run) for run in _RUN.findall(long))
        for long in _LONG.findall(said)
    )


def is_alone(said: str) -> bool:
    """Whether all that a text says looks like a password: one word of letters and digits, with signs that ids have not,
    or with small letters, capitals and digits in one run."""
    found = _ALONE.fullmatch(said.strip())
    if found is None:
        return False
    kinds = {_kind(sign) for sign in found[1]}
    if "digit" not in kinds or not kinds & {"small", "capital"}:
        return False
    return _SIGN.search(found[1]) is not None or (len(found[1]) < LONG and kinds == {"small", "capital", "digit"})


def without_secrets(said: str) -> str:
    """A text without the sentences that tell a secret, and those behind one that announces it ("The password is:")."""
    if not is_told(said):  # as most
        return "" if is_alone(said) else said
    kept: list[str] = []
    announced = False
    for sentence in _SENTENCE.split(said):
        secret = is_told(sentence)
        if not (secret or announced):
            kept.append(sentence)
        announced = (secret or (announced and not sentence.strip())) and _DIGIT.search(sentence) is None
    return "\n".join(kept)


def _is_random(run: str) -> bool:
    kinds = [_kind(sign) for sign in run]
    steps = sum(one != next_ for one, next_ in pairwise(kinds))
    return len({*kinds}) == 3 and steps >= MIXED * (len(run) - 1)


def _kind(sign: str) -> str:
    return "digit" if sign.isdigit() else "small" if sign.islower() else "capital" if sign.isupper() else "sign"
