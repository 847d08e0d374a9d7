"""What is relevant, and how much of it fits."""

from __future__ import annotations

from typing import Literal

from streams.core.params import Params, param


class WorkingContextParams(Params):
    """What is relevant, and how much of it fits."""

    capacity: int = param(4, "efforts", "working memory holds 3 to 5 chunks", source="Cowan 2001", ge=1, le=16)
    mentioned: float = param(
        0.9, "weight 0..1", "the highest signal; below 1 so that the others still order what is named", ge=0, le=1
    )
    similar: float = param(
        0.6, "weight 0..1", "high: above any one medium signal when the likeness is strong", ge=0, le=1
    )
    medium: float = param(
        0.4,
        "weight 0..1",
        "recently in context, flagged important and connected weigh alike",
        source="Cognitive Context Management, tier 4",
        ge=0,
        le=1,
    )
    established: float = param(
        4.0, "touches", "a trace this strong counts half: two exchanges on it, where one remark counts a fifth", gt=0
    )
    half_life: float = param(
        40.0,
        "turns",
        "twenty exchanges about something else halve what is remembered of the work before them",
        gt=0,
        le=1_000_000,
    )
    untouched_after: int = param(80, "turns", "two half-lives without a touch are long", ge=1)
    untouched: float = param(0.3, "share of the score", "what long untouched takes away", ge=0, le=1)
    unconnected: float = param(
        0.1, "share of the score", "what being unconnected takes away; most efforts are, so it is small", ge=0, le=1
    )
    pull: float = param(
        0.11,
        "similarity 0..1",
        "a turn this alike pulls an effort in where there is room; .15 misses returns, less is not worth showing",
        ge=0,
        le=1,
    )
    pull_most: int = param(
        2, "efforts", "pulled in by one turn, the most alike: more would turn over the context at once", ge=0, le=8
    )
    margin: float = param(
        0.5,
        "score 0..1",
        "what is not named replaces an entry only if far more relevant: else every neighbour in a domain turns it over",
        ge=0,
        le=1,
    )
    worth: float = param(
        0.05, "score 0..1", "an effort worth less does not come back by itself, even where there is room", ge=0, le=1
    )
    expand: float = param(0.5, "score 0..1", "only a named or a very similar effort shows raw turns", ge=0, le=1)
    condense: float = param(
        0.3, "score 0..1", "below `expand`, so that an effort does not flap between the two", ge=0, le=1
    )
    connect: int = param(
        8, "shared telling terms", "of 12: most of them; fewer are shared by all efforts of one domain", ge=1, le=12
    )
    concluded_for: int = param(
        20,
        "user turns",
        "a conclusion unreferenced so long is history",
        source="Cognitive Context Management",
        ge=0,
        le=1_000_000,
    )
    concluded_kept: int = param(8, "summaries", "bounds the session's record (law 4)", ge=1, le=16)
    candidates: int = param(
        12,
        "efforts",
        "traces kept per session beside a second dozen not yet forgotten: what comes back brings its own",
        ge=8,
        le=24,
    )
    rescore: int = param(
        8,
        "turns",
        "the context may stand still so long while the talk goes on: traces of the others lose an eighth meanwhile",
        ge=0,
    )
    displace: Literal["least-relevant", "oldest"] = param(
        "least-relevant",
        "policy",
        "the oldest may be what the talk comes back to; `oldest` is the floor to compare with",
    )


PRESETS = {
    "default": WorkingContextParams(),
    "narrow": WorkingContextParams(capacity=3),
    "wide": WorkingContextParams(capacity=5),
    "oldest-first": WorkingContextParams(displace="oldest"),
}
"""Named values of the parameters."""
