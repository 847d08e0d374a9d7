"""Conclusions, told as conversations: what concludes, what is offered, and what only looks like it.

Debugging, planning, a help desk, a kitchen, research: none of it customer service for flights.
"""

from __future__ import annotations

import pytest

from processors.manifest import PROCESSOR, ArtifactMade, ConclusionDetected, ConclusionOffered, OfferSettled
from processors.manifest import SegmentConcluded
from processors.manifest.conclusion import ConclusionParams
from streams.driver import fold
from streams.events import (
    MINUTE,
    EffortClosed,
    OfferDeclined,
    Outside,
    SessionEnded,
    TurnRecorded,
    TurnRetracted,
)
from streams.text.claims import HINTS, PATTERNS, claims

ROLES = {"u": "user", "a": "assistant", "t": "tool"}


def turns(script: str, session: str = "s") -> list[TurnRecorded]:
    """Turns of a script: a line each, `u:`, `a:` or `t:` before what is said; `\\n` for a new line in it."""
    made: list[TurnRecorded] = []
    for line in script.strip().splitlines():
        role, _, content = line.strip().partition(": ")
        n = len(made)
        content = content.replace("\\n", "\n")
        made.append(TurnRecorded("p", f"t{n}", (n + 1) * MINUTE, session, "", ROLES[role], content))
    return made


def concluded(script: str) -> dict[str, str]:
    """Which turns conclude, and by which pattern."""
    rows = fold([PROCESSOR], turns(script))
    return {row.event.turn: row.event.pattern for row in rows if isinstance(row.event, SegmentConcluded)}


def offered(script: str) -> dict[str, str]:
    """Which turns are offered, and by which pattern."""
    rows = fold([PROCESSOR], turns(script))
    return {row.event.turn: row.event.pattern for row in rows if isinstance(row.event, ConclusionOffered)}


BUG = """u: The nightly import crashes with a KeyError since Monday.
a: The feed renamed the column 'sku' to 'item_id'. Map the old name in the loader and it should go through."""
ASK = """u: How many litres of paint do I need for a 40 square metre wall?
a: With two coats and 10 square metres a litre you need about 8 litres."""
TASK = """u: Please rename the billing module to invoicing and update the imports.
t: 14 files changed
a: I've renamed the module and updated 14 imports. All tests pass."""
STEP = """u: My laptop cannot connect to the office printer.
a: Please restart the print spooler from the services panel and tell me what happens."""
PLAN = """u: We need a venue for the team offsite in May.
a: The lake house is free on the 12th and costs 900 for two days."""
CHOICE = """u: Which database should we use for the event store?
a: Postgres or SQLite would both work. Which one do you prefer?"""

CONCLUDES = [
    # resolution: trouble, then seen to be gone
    (BUG, "That fixed it!", "resolution"),
    (BUG, "Mapping the column solved the problem, the import runs fine now.", "resolution"),
    (BUG, "It works now, thank you.", "resolution"),
    (BUG, "Yes! That did the trick.", "resolution"),
    (BUG, "After mapping the column, the error is gone.", "resolution"),
    (BUG, "No more errors since I deployed that.", "resolution"),
    (STEP, "Great, it's printing again.", "resolution"),
    (STEP, "Restarting the spooler fixed it, thanks!", "resolution"),
    (STEP, "The printer is working fine now.", "resolution"),
    (STEP, "Problem solved.", "resolution"),
    # confirmation: a yes to an answer
    (ASK, "Perfect!", "confirmation"),
    (ASK, "Yes, that's it.", "confirmation"),
    (ASK, "Exactly what I needed.", "confirmation"),
    (ASK, "Great, that makes sense.", "confirmation"),
    (ASK, "That answers my question.", "confirmation"),
    (TASK, "Looks good to me.", "confirmation"),
    (TASK, "LGTM", "confirmation"),
    # completion: work done, or a goodbye to it
    (TASK, "Thanks!", "completion"),
    (TASK, "Thank you for your help, have a nice evening.", "completion"),
    (TASK, "That's all, bye.", "completion"),
    (TASK, "Great, I merged it and deployed to production.", "completion"),
    (TASK, "Awesome. We're done here.", "completion"),
    (TASK, "Nothing else, thanks.", "completion"),
    (TASK, "You can close the ticket.", "completion"),
    (TASK, "No further questions from my side.", "completion"),
    (ASK, "Got it, thanks for explaining.", "completion"),
    (ASK, "Ah okay. Good to know, thank you!", "completion"),
    (PLAN, "Never mind, we cancelled the offsite.", "completion"),
    (PLAN, "I booked it, so we're all set.", "completion"),
    (PLAN, "Cheers, that helps a lot.", "completion"),
    (PLAN, "That's too much for us. We'll leave it at that, thanks for looking.", "completion"),
    # declaration
    (BUG, "The root cause was the renamed column.", "declaration"),
    (CHOICE, "We've decided on Postgres.", "declaration"),
    (ASK, "So the answer is 8 litres.", "declaration"),
]

STAYS_OPEN = [
    # asked
    (BUG, "Is it done?"),
    (BUG, "Did that fix it?"),
    (TASK, "Is everything merged?"),
    (TASK, "So that's all?"),
    (BUG, "Does it work now"),
    # negated
    (TASK, "It's not done yet."),
    (BUG, "That didn't fix it."),
    (BUG, "It still isn't working."),
    (TASK, "The branch hasn't been merged."),
    (BUG, "No, that's not it."),
    # hypothetical, future
    (BUG, "If that fixes it, I'll buy you a coffee."),
    (TASK, "Once it's merged, tell the others."),
    (TASK, "When this is done we can start on the exports."),
    (TASK, "It will be deployed tomorrow."),
    (TASK, "I want it done by Friday."),
    (TASK, "It should be finished soon."),
    (STEP, "I'll try that, thanks."),
    (STEP, "Thanks, let me check and get back to you."),
    (BUG, "Hopefully that solves the problem."),
    # quoted
    (TASK, "> done"),
    (TASK, "He said 'it is done' but I see nothing."),
    (TASK, "The log says \"deployed\" and then nothing."),
    (BUG, "The output is:\\n```\\nall tests pass\\ndone\\n```"),
    (BUG, "According to the vendor it's fixed."),
    # partial, contrasted
    (BUG, "That part works, but the export is broken."),
    (BUG, "Thanks, but it crashes with another error now."),
    (TASK, "The first half is done."),
    (TASK, "It's merged, but the pipeline is red."),
    (ASK, "Thanks. However, I meant two walls."),
    # another request in the same turn
    (TASK, "Thanks! Now add a changelog entry."),
    (TASK, "Perfect, please also rename the tests."),
    (ASK, "Thank you. What about primer?"),
    (PLAN, "Great, thanks. Can you check the 19th as well?"),
    (PLAN, "Perfect. One more thing: we need catering."),
    (TASK, "Great work. I'd like the docs updated too."),
    (PLAN, "Thanks in advance for asking them."),
    # a yes to a question, and answers to one
    (CHOICE, "Yes, thanks."),
    (CHOICE, "Postgres, thank you."),
    (STEP, "Done."),
    (STEP, "Ok, done. It shows a blank page."),
    # thanks for being handed over is no end
    ("u: My account is locked.\na: I've escalated this to the security team, they will contact you.", "Okay, thanks."),
    # nobody has answered yet
    ("u: Can somebody look at the backup job?", "Thanks!"),
    # "that's all" that is no end
    (BUG, "That's all the log says."),
    (BUG, "Thanks to the cache nobody noticed."),
]


@pytest.mark.parametrize(("given", "when", "pattern"), CONCLUDES, ids=[case[1][:50] for case in CONCLUDES])
def test_a_turn_that_says_so_concludes(given: str, when: str, pattern: str) -> None:
    script = f"{given}\nu: {when}"
    last = f"t{len(script.splitlines()) - 1}"
    assert concluded(script) == {last: pattern}


@pytest.mark.parametrize(("given", "when"), STAYS_OPEN, ids=[case[1][:50] for case in STAYS_OPEN])
def test_a_turn_that_only_looks_like_it_concludes_nothing(given: str, when: str) -> None:
    assert concluded(f"{given}\nu: {when}") == {}
