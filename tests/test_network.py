"""The knowledge network as people meet it: in contexts, commands, exports, recall, and what may leave its space."""

from __future__ import annotations

import json
import os
import random
import string
from pathlib import Path
from typing import Any

import pytest

from projections.recall.liveliness import LivelinessParams, liveliness
from streams.core.text.masking import masked
from streams.gateways.cli import main
from streams.gateways.commands.network import dot, jsonld, shareable
from tests.spaces import SPACE, Remembering

COOKIE = "the session cookie was renamed in release 3.2"
PLANTED = int(os.environ.get("MNEMOLOG_PLANTED", "400"))
"""Identifiers that are planted in all; 10,000 take half a minute."""


@pytest.fixture
def space(tmp_path: Path) -> Any:
    with Remembering(tmp_path / "home") as space:
        space.say(f"The login test fails because {COOKIE}.", session="login", agent="ann")
        space.say(f"{COOKIE.capitalize()} because the old name collided with analytics.", session="ops", agent="bob")
        yield space


def shown(space: Remembering, session: str) -> list[str]:
    """What a context shows of the network, where nothing else tells of it."""
    found = space.ask("context", space=SPACE, session=session, without=["recalled", "entries", "long_term"])
    return [piece["text"] for one in found["sections"] if one["name"] == "network" for piece in one["pieces"]]


def test_a_context_shows_what_other_sessions_know_of_a_turn_and_how_sure_it_is(space: Remembering) -> None:
    space.say("Which cookie was renamed for the session?", session="release")
    assert shown(space, "release") == [f"- claim (confidence 0.75): {COOKIE} [t0]"]
    space.say("Good morning, lovely weather.", session="release")
    assert shown(space, "release") == []


def test_an_undecided_conflict_is_a_question_that_the_context_shows_once(space: Remembering) -> None:
    space.say("The deadline of the report is Friday.", session="a", agent="ann")
    space.say("The deadline of the report is Monday.", session="b", agent="bob")
    (question,) = shown(space, "b")
    assert question.startswith('- open question for bob, neither is settled: "The deadline of the report is Monday."')
    space.say("Good morning, lovely weather.", session="b", agent="bob")
    assert shown(space, "b") == []


def ask(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit):
        main([*words])
    return capsys.readouterr().out


@pytest.fixture
def home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    told = [("login", f"The login test fails because {COOKIE}."), ("ops", f"{COOKIE} because the names collided.")]
    rows = [
        {
            "id": f"t{n}",
            "session": session,
            "role": "user",
            "agent": "ann",
            "content": content,
            "at": f"2026-03-0{n + 1}",
        }
        for n, (session, content) in enumerate(told)
    ]
    path, home = tmp_path / "turns.jsonl", str(tmp_path / "home")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ask(capsys, "feed", str(path), "--home", home)
    return home


def test_the_command_tells_a_node_with_what_hangs_on_it(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = ask(capsys, "network", "t1", "--home", home)
    assert f'"{COOKIE}" ann [t0, t1]' in told
    assert "  supports, because: 0.6" in told
    near = [
        json.loads(line) for line in ask(capsys, "network", "t1", "--depth", "0", "--json", "--home", home).splitlines()
    ]
    assert {row["row"] for row in near} >= {"node"}
    assert ask(capsys, "network", "t1", "--format", "dot", "--home", home).startswith("digraph knowledge {")
    linked = json.loads(ask(capsys, "network", "--format", "jsonld", "--home", home))
    assert {row["kind"] for row in linked["@graph"]} == {"claim", "conclusion"}


def test_an_export_has_the_network(home: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask(capsys, "export", str(tmp_path / "out"), "--home", home)
    nodes, edges = (json.loads((tmp_path / "out/network" / f"{name}.json").read_text()) for name in ("nodes", "edges"))
    assert COOKIE in {node["text"] for node in nodes}
    assert {(edge["kind"], edge["rule"]) for edge in edges} == {("support", "because")}
    assert {edge["source"] for edge in edges} <= {node["node"] for node in nodes}


def test_what_several_say_comes_first_of_what_is_as_relevant(space: Remembering) -> None:
    told = [space.ask("memory", space=SPACE, id=turn)["now"] for turn in ("t0", "t1")]
    measured = [row["value"] for rows in told for row in rows if row["measure"] == "known"]
    assert measured == [0.75, 0.5]
    several, one = liveliness(LivelinessParams(), {"known": measured}, [0.0, 0.0])
    assert several > one


def test_graphviz_and_json_ld_take_any_text() -> None:
    row = {
        "node": 'a"b',
        "text": 'say "x\\"\n',
        "kind": "claim",
        "status": "open",
        "confidence": 0.5,
        "layer": 1,
        "turns": [],
    }
    assert '"a\\"b" [label="say \\"x\\\\\\"\\n\\nclaim 0.50", style=dashed];' in dot([row], [])
    assert jsonld([row], [])["@graph"][0]["text"] == row["text"]


def test_what_is_private_or_contextual_does_not_leave_its_space(home: str, tmp_path: Path, capsys: Any) -> None:
    for layer in ("0", "1"):
        ask(capsys, "share", "--layer", layer, "--out", str(tmp_path / "no.json"), "--home", home)
    assert not (tmp_path / "no.json").exists()
    ask(capsys, "share", "--out", str(tmp_path / "yes.json"), "--home", home)
    assert json.loads((tmp_path / "yes.json").read_text()) == {"layer": 2, "nodes": [], "edges": []}


# -- planted identifiers -----------------------------------------------------------------------------------------------

FIRST = (
    "Marta",
    "Oyelaran",
    "Ildikó",
    "Zoltán",
    "Priya",
    "Nguyen",
    "Björn",
    "Siobhan",
    "Xiulan",
    "Kofi",
    "Hanneke",
    "Dmitri",
    "Aoife",
    "Yusuf",
    "Lindiwe",
)
LAST = ("Kovács", "Thistlewood", "Okonkwo", "Brandvold", "Castellanos", "Featherstone", "Nakagawa", "Vandermeer")
FIRMS = ("Acmetronix", "Fjordwerk", "Zenvolta", "Brightloom", "Quarrystone", "Nordhavn", "Kestrelia", "Umbracore")


def identifiers(rng: random.Random) -> dict[str, str]:
    """One of each of twenty kinds."""

    def some(alphabet: str, count: int) -> str:
        return "".join(rng.choice(alphabet) for _ in range(count))

    first, last, firm = rng.choice(FIRST), rng.choice(LAST), rng.choice(FIRMS)
    digits, hexes, letters = string.digits, "0123456789abcdef", string.ascii_letters
    return {
        "name": first,
        "full name": f"{first} {last}",
        "name in lower case": last.lower(),
        "organisation": firm,
        "organisation in words": f"{firm} Holdings GmbH",
        "e-mail": f"{first}.{last}@{firm}.example".lower(),
        "phone": f"+{rng.randint(1, 99)} {some(digits, 3)} {some(digits, 7)}",
        "address on the net": f"10.{rng.randint(0, 255)}.7.{rng.randint(0, 255)}",
        "IPv6": f"2001:db8:{some(hexes, 4)}::{some(hexes, 4)}",
        "link": f"https://{firm}.example/{some(letters, 8)}?id={some(digits, 4)}".lower(),
        "path": f"/home/{first.lower()}/{some(letters, 6)}.txt",
        "path on Windows": f"C:\\Users\\{first}\\{some(letters, 5)}.docx",
        "card": " ".join(some(digits, 4) for _ in range(4)),
        "IBAN": f"DE{some(digits, 20)}",
        "key": f"AKIA{some(string.ascii_uppercase + digits, 16)}",
        "token": f"ghp_{some(letters + digits, 36)}",
        "UUID": f"{some(hexes, 8)}-{some(hexes, 4)}-{some(hexes, 4)}-{some(hexes, 12)}",
        "handle": f"@{first.lower()}_{some(digits, 2)}",
        "order": f"#{some(string.ascii_uppercase, 2)}-{some(digits, 6)}",
        "date": f"{rng.randint(1, 28)}.{rng.randint(1, 12)}.19{some(digits, 2)}",
    }


FRAMES = (
    "the report for {0} is late because {0} was never asked",
    "{0} always needs two people to approve the report",
    "ask ({0}), then send the report",
    "the order was: {0}; it failed.",
    "whenever the report mentions {0}, the build is slow",
    "The report's owner is {0}",
)


def test_nothing_that_is_planted_leaves_in_what_is_shared() -> None:
    rng = random.Random(3)
    nodes: list[dict[str, Any]] = []
    planted: list[tuple[str, str]] = []
    while len(planted) < PLANTED:
        for kind, identifier in identifiers(rng).items():
            planted.append((kind, identifier))
            text = rng.choice(FRAMES).format(identifier)
            row = {"node": f"node-{len(nodes)}", "text": text, "general": text if rng.random() < 0.5 else masked(text)}
            nodes.append(row | {"kind": "claim", "layer": 2, "confidence": 0.5})
    out = "\n".join(node["text"] for node in shareable(nodes, [], 2)["nodes"]).casefold()
    leaked = [
        (kind, part)
        for kind, identifier in planted
        for part in identifier.split()
        if len(part) > 2 and part.casefold() in out and not (part.isdigit() and len(part) < 4)
    ]
    assert len({kind for kind, _ in planted}) == 20
    assert leaked == []
    assert out.count("the report") > len(nodes) // 4, "what is no identifier stays"
