"""Presets: named parameters of the whole tree, by processor and parameter; what is left out keeps its default.

They differ in how long memories last, how often they are consolidated, and which kind of memory counts most.
"""

from __future__ import annotations

from typing import Any

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    # A companion: what was said weeks ago matters, what the user is like and feels matters most.
    "chatbot": {
        "activation": {
            "decay": 0.4,  # slow: a month takes away what five days do with .5
            "important": 1.5,  # what people call important is the relationship
        },
        "association": {"half_life": 60.0},  # people come back to a theme after a season
        "consolidation": {
            "every": 0.5,  # frequent: morning and evening, as people talk to it
            "slow": 0.005,  # the slow trace halves in twenty weeks
        },
        "forgetting": {
            "episodic": 7.0,  # a week: "how did it go?" is asked days later
            "semantic": 60.0,  # likes, names and family must not have to be told again
            "procedural": 30.0,  # habits of the conversation
            "forgotten_below": 0.001,  # 7 S: what happened is offered for seven weeks
        },
    },
    # A worker: the task at hand is all; how things are done outlasts what was done.
    "task-agent": {
        "activation": {
            "decay": 0.7,  # fast: yesterday's task is in the way of today's
            "refractory": 2.0,  # minutes: steps of a task follow each other fast, each is a use of its own
        },
        "association": {"half_life": 7.0},  # what belongs together does so within a task
        "consolidation": {
            "every": 30.0,  # rare: there is little to keep
            "fast": 0.3,  # the fast trace halves in two days
        },
        "coactivation": {"half_life": 10.0},  # efforts last days, not months
        "forgetting": {
            "episodic": 0.5,  # half a day: the length of a task
            "semantic": 2.0,  # facts about a task end with it
            "procedural": 8.0,  # what was learned about doing it serves the next ones
            "growth": 1.3,  # what is used again and again is a skill
        },
        "working_context": {"capacity": 3},  # narrow: one task and what it rests on
    },
    # An assistant of one person: the week's matters, standing wishes, some how-to.
    "personal-assistant": {
        "consolidation": {"every": 1.0},  # daily, as sleep
        "forgetting": {
            "episodic": 3.0,  # appointments and errands are done within days
            "semantic": 20.0,  # preferences come up every few weeks
            "procedural": 20.0,  # so do the ways the person wants things done
        },
    },
    # An archive: what was found years ago may be what is needed; nothing is ever forgotten.
    "researcher": {
        "activation": {"decay": 0.3},  # very slow: age says little about a finding
        "association": {"half_life": 365.0},  # themes are taken up again after a year
        "coactivation": {"half_life": 180.0},  # projects last for seasons
        "consolidation": {
            "every": 7.0,  # weekly
            "slow": 0.002,  # the slow trace halves in a year
            "fresh": 0.3,  # of a batch: old findings are replayed as much as new ones
            "week": 0.3,
        },
        "forgetting": {
            "episodic": 90.0,  # a season: experiments and readings
            "semantic": 730.0,  # findings and definitions stay so
            "procedural": 365.0,  # methods change more than findings
            "forgotten_below": 0.0,  # all of the archive is offered
        },
        "working_context": {"capacity": 5},  # wide: several lines of work are compared
    },
}
"""By name, for `--preset`."""
