"""The page: shows what there is at any moment, mends it, and is bent by nothing that was said."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

import streams
from processors import PROCESSORS
from processors.working_context.events import Change
from streams.core.events import GIVEN, MINUTE, ClockTicked, NoteTaken, TurnRecorded
from streams.gateways.http import app as http_app
from streams.gateways.http.keys import Keys
from streams.gateways.http.limits import SIGNED
from streams.gateways.http.page import drawing
from streams.gateways.http.page.scene import HERE, POLICY, span
from streams.runtime.home import Home
from tests.laws.histories import START
from tests.serving import PATIENCE, served, serving
from tests.test_terminal import COMMANDED, EVIL, TOLD

SAMPLES = sorted((Path(streams.__file__).parent / "gateways" / "samples").glob("*.jsonl"))
PAGES = [
    "/",
    "/session?session=import-day",
    "/context?session=import-day",
    "/recall?q=decided",
    "/links",
    "/beliefs",
    "/compare",
]
BROWSER = os.environ.get("MNEMOLOG_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), ""
)
HTML = {"Accept": "text/html"}
MARKUP = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'{{ 7*7 }}&amp;</td>"
TAGS = {found for path in HERE.glob("templates/*.html") for found in re.findall(r"<([a-z]\w*)", path.read_text())}
"""Those that templates write."""
NOTE = f"n{MARKUP}\u202e"
SECRET = "heliotrope"
CUT = "[...document.querySelectorAll('.wide')].some(one => one.scrollWidth > one.clientWidth + 1)"
NARROWEST = "Math.min(999, ...[...document.querySelectorAll('tbody th')].map(one => one.clientWidth))"
"""How wide the narrowest heading of a row is."""


class Seen(HTMLParser):
    """What is on a page: its tags, their attributes, its words and its forms."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words = ""
        self.forms: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append((tag, given))
        if tag == "form":
            self.forms.append((given.get("action", ""), {}))
        elif tag == "input" and self.forms and given.get("name"):
            self.forms[-1][1][given["name"]] = given.get("value", "")

    def handle_data(self, data: str) -> None:
        self.words += data

    @property
    def links(self) -> list[str]:
        return [given["href"] for tag, given in self.tags if tag == "a"]

    def acts(self, name: str) -> list[dict[str, str]]:
        """The fields of the forms that do something."""
        return [fields for action, fields in self.forms if action == "/mend" and fields["act"] == name]


def seen(client: TestClient, path: str, status: int = 200) -> Seen:
    answer = client.get(path, headers=HTML)
    assert answer.status_code == status, (path, answer.text[:500])
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return Seen(answer.text)


@contextmanager
def asking(path: Path, **how: Any) -> Iterator[tuple[TestClient, Home]]:
    """A browser without script, on the page of a home."""
    home = Home(path, PROCESSORS)
    client = TestClient(http_app.made(path, **how), "http://localhost", follow_redirects=False)
    with ExitStack() as stack:
        stack.callback(home.log.close)
        stack.enter_context(serving(home))
        yield stack.enter_context(client), home


def recorded(home: Home) -> list[dict[str, Any]]:
    return [json.loads(record.value) for record in home.log.read(0, 0)]


@pytest.fixture(scope="module")
def folded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of the samples."""
    home = Home(tmp_path_factory.mktemp("samples") / "home", PROCESSORS)
    home.request({"feed": [json.loads(line) for path in SAMPLES for line in path.read_text().splitlines()]})
    note = {"type": "note-taken", "id": "q", "space": "harbor", "note": "quay", "content": "Call the harbour office."}
    judged = {"type": "contradiction-judged", "id": "j", "space": "harbor"}
    judged |= {"turn": "midnight-return-17", "older": "midnight-return-01"}
    home.request({"feed": [note, judged]})
    home.ask("spaces")
    home.log.close()
    shutil.copy(home.path / "live.duckdb", home.path / "kept.duckdb")
    return home.path


@pytest.fixture(scope="module")
def shown(folded: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The samples, to look at."""
    with asking(Path(shutil.copytree(folded, tmp_path_factory.mktemp("shown") / "home"))) as (client, _):
        yield client


@pytest.fixture
def mended(folded: Path, tmp_path: Path) -> Iterator[tuple[TestClient, Home]]:
    """The samples, to change."""
    with asking(Path(shutil.copytree(folded, tmp_path / "home"))) as found:
        yield found


# -- what is shown -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        *PAGES,
        "/docs",
        "/sign-in",
        "/compare?memory=kept",
        "/session?session=none",
        "/context?session=none",
        "/?space=none",
    ],
)
def test_a_page_runs_nothing_but_its_own_script_and_asks_no_other_host(shown: TestClient, path: str) -> None:
    answer = shown.get(path, headers=HTML)
    assert answer.headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert answer.headers["cache-control"] == "no-store"
    for tag, given in Seen(answer.text).tags:
        assert tag != "style"
        assert not [name for name in given if name == "style" or name.startswith("on")]
        assert tag != "script" or given["src"] == "/page.js"
        for name in ("src", "href", "action", "formaction", "data"):
            assert not urlsplit(given.get(name, "")).netloc, given


@pytest.mark.parametrize("name", ["page.css", "page.js", "page.svg"])
def test_the_files_of_the_page_name_no_other_host(shown: TestClient, name: str) -> None:
    answer = shown.get(f"/{name}")
    assert answer.status_code == 200
    assert not re.findall(r"(?:https?:)?//(?!www\.w3\.org/2000/svg)[a-z]", answer.text)


def test_the_overview_tells_sessions_efforts_and_what_time_notes_have_left(shown: TestClient) -> None:
    found = seen(shown, "/?space=harbor")
    for words in (
        "import-day",
        "280",
        "Search for connections",
        "Refund",
        "24 hours left",
        "over for",
        "Concluded?",
    ):
        assert words.lower() in found.words.lower(), words
    assert len([given for tag, given in found.tags if tag == "svg" and given["class"] == "timeline"]) == 9


def test_the_overview_counts_the_efforts_that_commands_list(shown: TestClient) -> None:
    efforts = shown.get("/v1/views/efforts?space=harbor").json()
    words = seen(shown, "/?space=harbor").words
    for name, status in (("Open efforts", "open"), ("Concluded", "concluded")):
        assert f"{name}{[row['status'] for row in efforts].count(status)}\n" in words


def test_a_session_shows_its_newest_turns_and_each_segment(shown: TestClient) -> None:
    found = seen(shown, "/session?space=harbor&session=import-day")
    turns = [given for tag, given in found.tags if tag == "li" and "turn" in given.get("class", "").split()]
    assert len(turns) == 60
    (link,) = (link for tag, given in found.tags if tag == "a" and (link := given["href"]) and "segment=" in link
               and "tabindex" not in given)  # fmt: skip
    ids, count = set(), 0
    while link:
        one = seen(shown, link)
        count += 1
        ids |= {given["id"] for tag, given in one.tags if tag == "li" and given.get("class", "").startswith("turn ")}
        link = next((given["href"] for tag, given in one.tags if given.get("rel") == "prev"), "")
    assert (count, len(ids)) == (13, 95)  # one was taken back


def test_the_context_of_a_turn_is_what_a_model_would_be_given_and_what_was_left_out(shown: TestClient) -> None:
    asked = {"space": "harbor", "session": "import-day", "as_of": "0:120", "record": "false", "explain": "true"}
    told = shown.get("/v1/context", params=asked).json()
    found = seen(shown, "/context?space=harbor&session=import-day&as_of=0:120")
    assert f"{told['tokens']:,} of at most 4,000 tokens" in found.words
    words = " ".join(found.words.split())
    for piece in told["considered"]:
        assert " ".join(piece["text"].split()) in words
    assert "Who came, who left, and why" in words
    assert "mentioned" in words


def test_recall_shows_its_scores_and_leaves_no_trace(shown: TestClient) -> None:
    before = shown.get("/v1/views/recorded_turns?limit=1&order=position DESC").json()
    told = shown.get("/v1/recall", params={"space": "harbor", "query": "refund", "k": 20}).json()["hits"]
    found = seen(shown, "/recall?space=harbor&q=refund")
    assert len(told) > 5
    for hit in told:
        assert f"{hit['score']:.2f}" in found.words
    assert shown.get("/v1/views/recorded_turns?limit=1&order=position DESC").json() == before
    assert not shown.get("/v1/views/remembered?space=harbor&recalls=1").json()


def test_links_and_beliefs_tell_what_the_views_hold(shown: TestClient) -> None:
    links = shown.get("/v1/links?space=harbor").json()
    assert links
    found = seen(shown, "/links?space=harbor")
    linked = {link[end] for link in links for end in ("first", "second")}
    assert len([tag for tag, _ in found.tags if tag == "circle"]) == len(linked)
    for link in links:
        assert f"{link['strength']:.2f}" in found.words
    found = seen(shown, "/beliefs?space=harbor")
    assert re.search(r"replaced.*judged, 100 % sure.*believed now", found.words, re.DOTALL)
    judged = [row["turn_id"] for row in shown.get("/v1/views/beliefs?space=harbor&value=").json()]
    assert judged
    for turn in judged:
        [said] = shown.get("/v1/views/recorded_turns", params={"space": "harbor", "turn_id": turn}).json()
        assert said["content"][:100] in found.words, "who is to judge reads what the turns say"
    assert "as the turn says" not in found.words
    doubts = shown.get("/v1/views/doubts?space=harbor&status=open").json()
    assert doubts
    for doubt in doubts:
        assert doubt["older_text"][:100] in found.words
        wanted = {"id": doubt["turn_id"], "older": doubt["older"], "so": "no"}  # a turn may be in doubt with two
        assert any(wanted.items() <= dict(act).items() for act in found.acts("judge"))


@pytest.mark.parametrize("path", PAGES)
def test_at_a_moment_nothing_later_is_known_and_nothing_can_be_mended(shown: TestClient, path: str) -> None:
    link = f"{path}{'&' if '?' in path else '?'}space=harbor&as_of=0:130"
    found = seen(shown, link)
    times = re.findall(r"(?<!due )(2026-\d\d-\d\d) \d\d:\d\d", found.words)
    assert max(times) == "2026-03-05"
    assert not [action for action, _ in found.forms if action == "/mend"]
    (now,) = (given["href"] for _, given in found.tags if given.get("class") == "now")
    assert all("as_of=0%3A" in link for link in found.links if "space=" in link and link != now)


def test_two_memories_are_shown_side_by_side(mended: tuple[TestClient, Home]) -> None:
    client, home = mended
    assert "Efforts that differ: 0" in seen(client, "/compare?space=harbor&memory=kept").words
    fields = seen(client, "/?space=harbor").acts("close")[0]
    done = client.post("/mend", data=fields)
    seen(client, done.headers["location"])
    words = " ".join(seen(client, "/compare?space=harbor&memory=kept").words.split())
    efforts = [row["status"] for row in client.get("/v1/efforts?space=harbor").json()]
    now, done_ = efforts.count("open"), efforts.count("concluded")
    assert f"open efforts{now}{now + 1}concluded efforts{done_}{done_ - 1}" in words
    assert "Efforts that differ: 1" in words
    assert "Efforts that differ: 0" in seen(client, "/compare?space=harbor&memory=kept&as_of=0:100").words
    assert "there is no memory" in seen(client, "/compare?memory=../kept", 422).words
    client.cookies.set(SIGNED, Keys(home.path).add("ann", ["harbor"], ["read"]))
    found = seen(client, "/compare?space=harbor&memory=kept", 403)
    assert "memories are of all spaces" in found.words
    assert not [link for link in seen(client, "/?space=harbor").links if link.startswith("/compare")]


def test_what_two_memories_would_give_a_model_is_shown_side_by_side(mended: tuple[TestClient, Home]) -> None:
    client, home = mended
    link = "/compare?space=harbor&memory=kept&session=import-day"
    assert f"{link}#contexts" in seen(client, "/compare?space=harbor&memory=kept").links
    alike = seen(client, link).words
    assert "What a model is given in import-day" in alike
    assert "only here" not in alike
    home.log.append([TurnRecorded("harbor", "later", START, "import-day", "ann", "user", "The crane is out of order.")])
    differ = " ".join(seen(client, link).words.split())
    assert re.search("only here [^.]{0,40}The crane is out of order", differ)
    assert "only here" not in seen(client, f"{link}&as_of=0:100").words


def test_time_that_went_on_for_live_alone_is_no_difference_between_two_memories(
    mended: tuple[TestClient, Home],
) -> None:
    client, home = mended
    link = "/compare?space=harbor&memory=kept&session=import-day"
    home.log.append([ClockTicked("harbor", "tick", START + 200 * 24 * 60 * MINUTE)])
    alike = seen(client, link).words
    assert "only time has passed" in alike
    assert "only here" not in alike
    home.log.append([TurnRecorded("harbor", "later", START, "import-day", "ann", "user", "The crane is out of order.")])
    found = seen(client, link)
    assert "What live took in since then differs, too" in found.words
    (then,) = (given["href"] for tag, given in found.tags if tag == "a" and "as_of" in given["href"])
    alike = seen(client, then).words
    assert "differs, too" not in alike
    assert "only here" not in alike


def test_the_page_shows_the_context_that_the_command_line_gives_now(mended: tuple[TestClient, Home]) -> None:
    client, home = mended
    said = int(time.time() * 1e6) - 3 * MINUTE
    home.log.append([TurnRecorded("pier", "p1", said, "gate", "ann", "user", "Is the gate open?")])
    words = seen(client, "/context?space=pier&session=gate").words
    (asked,) = re.findall(r"asked at (\d{4}-\d\d-\d\d \d\d:\d\d)", words)
    assert asked > f"{datetime.fromtimestamp(said / 1e6, UTC):%Y-%m-%d %H:%M}"


def test_all_routes_and_all_events_are_told_on_a_page(shown: TestClient) -> None:
    found = seen(shown, "/docs")
    told = shown.get("/openapi.json").json()
    for path, operations in told["paths"].items():
        for method in operations:
            assert f"{method.upper()} {path}" in found.words
    for name in GIVEN:
        assert name.rpartition(".v")[0] in found.words
    assert "UTC microseconds since 1970" in found.words


def test_words_and_numbers_that_stand_beside_what_is_shown_are_explained_there(shown: TestClient) -> None:
    signals = ["mentioned", "similar", "recent", "important", "connected", "untouched", "unconnected"]
    moves = [*get_args(Change), "resumed", "displaced", "faded", "summary"]
    for path in ("/session?session=import-day", "/context?session=import-day"):
        words = seen(shown, f"{path}&space=harbor").words
        key = words.split("What these words mean")[1]
        assert not [one for one in (*signals, *moves) if one not in key]
    hits = shown.get("/v1/recall", params={"space": "harbor", "query": "who refunded it on Monday?", "k": 20}).json()
    names = {name for hit in hits["hits"] for name in hit["parts"]}
    assert {"own", "around", "relevance", "liveliness"} <= names
    words = seen(shown, "/recall?space=harbor&q=refund").words
    key = words.split("What the numbers are")[1].split("\n\n")[0]
    assert not [name for name in names if name not in key]
    assert "An effort is a piece of work" in " ".join(seen(shown, "/?space=harbor").words.split())


def test_the_sections_of_a_context_are_called_as_the_model_reads_them(shown: TestClient) -> None:
    found = seen(shown, "/context?space=harbor&session=import-day")
    told = shown.get("/v1/context?space=harbor&session=import-day&record=false&explain=true").json()
    for heading in re.findall("^## mnemolog: (.+)$", told["text"], re.MULTILINE):
        assert found.words.count(heading) > 2, heading  # bar, section and text
    assert "Direct Access" not in found.words.replace("direct access", "Direct Access")


def test_doubts_come_with_the_surest_first_and_those_that_are_hardly_any_folded_up(shown: TestClient) -> None:
    words = seen(shown, "/beliefs?space=harbor").words
    sure = [int(one) for one in re.findall(r"(\d+) % sure", words.split("Changed?")[1])]
    assert sure == sorted(sure, reverse=True)
    before, _, after = words.split("Changed?")[1].partition("Less likely")
    assert all(int(one) >= 50 for one in re.findall(r"(\d+) % sure", before))
    assert after


def test_no_cell_of_a_table_is_laid_out_as_something_else_of_the_same_name(shown: TestClient) -> None:
    laid = set(re.findall(r"^\.(\w+) \{[^}]*display:", (HERE / "page.css").read_text(), re.MULTILINE))
    assert "time" in laid
    for path in ("/", "/links", "/beliefs", "/compare?memory=kept", "/docs", "/context?session=import-day"):
        for tag, given in seen(shown, f"{path}{'&' if '?' in path else '?'}space=harbor").tags:
            assert tag not in ("td", "th") or not laid & set(given.get("class", "").split()), (path, given)


def test_a_browser_that_asks_for_a_page_that_is_none_is_told_so_on_a_page_and_a_program_in_json(
    shown: TestClient,
) -> None:
    assert "There is no such page" in seen(shown, "/sesion", 404).words
    for path, headers in (("/sesion", {}), ("/v1/turn", HTML)):
        assert shown.get(path, headers=headers).headers["content-type"] == "application/problem+json"


def test_before_anything_is_asked_recall_tells_what_it_compares(shown: TestClient) -> None:
    assert "rare ones weigh more" in seen(shown, "/recall?space=harbor").words


def test_what_is_no_moment_is_told_on_a_page(shown: TestClient) -> None:
    assert "neither a position nor a time" in seen(shown, "/?as_of=yesterday", 422).words
    assert "session" in seen(shown, "/session", 422).words


def test_where_nothing_was_said_the_page_tells_how_to_begin(home: Home) -> None:
    with asking(home.path) as (client, _):
        assert "mnemolog feed" in seen(client, "/").words


def test_of_a_long_session_a_picture_has_no_more_blocks_than_can_be_seen() -> None:
    threads = [
        {"segment": f"g{n}", "effort": f"e{n % 7}", "turns": 5, "first_position": 5 * n, "last_position": 5 * n + 4}
        for n in range(4000)
    ]
    found = drawing.blocks(threads, 0, 19_999)
    assert len(found) == drawing.BLOCKS
    assert all(a.x + a.width <= b.x + 1 for a, b in pairwise(found))
    assert [(b.x, b.width) for b in drawing.blocks(threads[:2], 0, 9)] == [(0, 500), (500, 500)]
    assert drawing.blocks([], 0, 0) == []


def test_a_graph_keeps_the_strongest_links_that_a_circle_has_room_for() -> None:
    links = [{"first": f"a{n}", "second": f"b{n}", "strength": 1 - n / 100} for n in range(40)]
    nodes, edges = drawing.graph(links, {})
    assert (len(nodes), len(edges)) == (drawing.NODES, drawing.NODES // 2)
    assert {edge.start.effort for edge in edges} | {edge.end.effort for edge in edges} == {n.effort for n in nodes}


@pytest.mark.parametrize(
    ("seconds", "told"), [(20, "0 minutes"), (60, "1 minute"), (7200, "2 hours"), (200_000, "2 days")]
)
def test_time_is_told_in_the_unit_that_suits(seconds: float, told: str) -> None:
    assert span(seconds) == told


# -- what is hostile ---------------------------------------------------------------------------------------------------


def crawled(client: TestClient, found: Callable[[str, str], None], limit: int = 8) -> None:
    """Visits all pages that are linked with one another, `limit` of each kind at most."""
    waiting, known = [*PAGES], {*PAGES}
    kinds: dict[str, int] = {}
    while waiting:
        path = waiting.pop(0)
        answer = client.get(path, headers=HTML)
        assert answer.status_code == 200, (path, answer.text[:500])
        found(path, answer.text)
        for link in Seen(answer.text).links:
            kind = urlsplit(link).path
            if link.startswith("/") and link not in known and kinds.get(kind, 0) < limit:
                kinds[kind] = kinds.get(kind, 0) + 1
                known.add(link)
                waiting.append(link)
    assert len(kinds) >= 5, kinds


def test_nothing_that_was_said_becomes_a_part_of_the_page(home: Home) -> None:
    evil, space = f"{EVIL}{MARKUP}", f"\u202e{MARKUP}"
    said = [
        TurnRecorded(
            space, f"{n}{evil}", START + n * MINUTE, f"{n % 3}{evil}", evil, "user" if n % 2 else "assistant",
            f"{TOLD[n % len(TOLD)]} {MARKUP}", [{evil: evil}],
        )
        for n in range(30)
    ]  # fmt: skip
    home.log.append([*said, NoteTaken(space, "n", START + 31 * MINUTE, NOTE, evil, "", 10**9)])

    def harmless(path: str, text: str) -> None:
        page = Seen(text)
        assert not COMMANDED.search(page.words), (path, ascii(page.words[:200]))
        for tag, given in page.tags:
            assert tag in TAGS, (path, tag)
            assert not [name for name in given if name.startswith("on") or not re.fullmatch(r"[\w:-]+", name)], given
            assert tag != "script" or given["src"] == "/page.js"
            assert tag != "img" or given["src"] == "/page.svg"
        assert "49" not in page.words or "7*7" in page.words

    with asking(home.path) as (client, _):
        crawled(client, harmless)
        found = seen(client, "/")
        fields = found.acts("settle")[0]
        assert client.post("/mend", data=fields).status_code == 303
        assert recorded(home)[-1]["note"] == NOTE
        assert client.get(f"/?{'x' * 9000}", headers=HTML).status_code == 200


# -- what is mended ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "act", "kind"),
    [
        ("/", "close", "effort-closed"),
        ("/", "reopen", "effort-reopened"),
        ("/", "decline", "offer-declined"),
        ("/", "settle", "note-settled"),
        ("/session?session=import-day", "flag", "importance-flagged"),
        ("/session?session=import-day", "unflag", "importance-flagged"),
        ("/session?session=import-day", "retract", "turn-retracted"),
        ("/beliefs", "judge", "contradiction-judged"),
    ],
)
def test_what_is_wrong_is_mended_from_the_page(mended: tuple[TestClient, Home], path: str, act: str, kind: str) -> None:
    client, home = mended
    place = f"{path}{'&' if '?' in path else '?'}space=harbor"
    fields = seen(client, place).acts(act)[-1]
    if act == "unflag":
        assert client.post("/mend", data=fields | {"act": "flag"}).status_code == 303
    before = len(seen(client, place).acts(act))
    answer = client.post("/mend", data=fields | {"conclusion": "All is well."})
    assert answer.status_code == 303
    fact = recorded(home)[-1]
    assert (fact["type"], fact["space"]) == (f"{kind}.v1", "harbor")
    assert urlsplit(answer.headers["location"]).path == path.partition("?")[0]
    after = len(seen(client, answer.headers["location"]).acts(act))  # the memory holds it by then
    assert after == before if act in ("flag", "unflag") else after < before
    count = len(recorded(home))
    again = client.post("/mend", data=fields | {"conclusion": "All is well."})
    assert (again.status_code, len(recorded(home))) == (303, count), "it stands so already"


def test_a_form_that_names_nothing_is_refused_in_words(mended: tuple[TestClient, Home]) -> None:
    client, home = mended
    count = len(recorded(home))
    for fields in ({}, {"act": "close"}, {"act": "nonsense", "id": "x"}, {"act": "settle", "id": "none"},
                   {"act": "retract", "id": "none", "space": "harbor"}, {"act": "judge", "id": "none"}):  # fmt: skip
        answer = client.post("/mend", data=fields)
        assert (answer.status_code, "<h1>" in answer.text) == (422, True), answer.text
    assert client.post("/mend", json={"act": "close"}).status_code == 422
    assert client.post("/mend", content=b"\xff=1&" * 30, headers={"Content-Type": "application/x-www-form-urlencoded"}
                       ).status_code == 422  # fmt: skip
    assert len(recorded(home)) == count


ELSEWHERE = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "https://evil.example"},
    {"Origin": "http://localhost:81"},
    {"Origin": "null"},
    {"Origin": "http://["},
]


@pytest.mark.parametrize("headers", ELSEWHERE, ids=lambda headers: str(*headers.values()))
@pytest.mark.parametrize("is_signed", [False, True])
def test_another_site_changes_nothing(
    mended: tuple[TestClient, Home], headers: dict[str, str], is_signed: bool
) -> None:
    client, home = mended
    fields = seen(client, "/session?space=harbor&session=import-day").acts("retract")[0]
    if is_signed:
        client.cookies.set(SIGNED, Keys(home.path).add("ann", None, ["read", "write"]))
    count = len(recorded(home))
    call = json.dumps({"feed": [{"session": "s", "role": "user", "content": "hello"}]})
    question = {"session": "import-day", "space": "harbor", "question": "Which delimiter was decided?"}
    for answer in (
        client.post("/mend", data=fields, headers=headers),
        client.post("/v1/call", content=call, headers=headers | {"Content-Type": "text/plain"}),
        client.get("/v1/context", params=question, headers=headers),
        client.post("/sign-in", data={"key": "x"}, headers=headers),
        client.post("/sign-out", headers=headers),
    ):
        assert answer.status_code == 403, answer.text
    assert len(recorded(home)) == count
    assert client.get("/", headers=headers).status_code == 200  # a link from elsewhere
    own = {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"}
    assert client.post("/mend", data=fields, headers=own).status_code == 303
    assert len(recorded(home)) == count + 1


# -- who may -----------------------------------------------------------------------------------------------------------


def test_who_has_no_key_is_asked_for_one_which_a_browser_keeps_out_of_reach_of_scripts(
    mended: tuple[TestClient, Home],
) -> None:
    client, home = mended
    token = Keys(home.path).add("ann", ["harbor"], ["read", "write"])
    answer = client.get("/session?session=import-day&space=harbor", headers=HTML)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/sign-in?next=%2Fsession%3Fsession%3Dimport-day")
    assert client.get("/v1/turns", headers=HTML).status_code == 401
    form = dict(seen(client, answer.headers["location"]).forms)["/sign-in"]
    assert client.post("/sign-in", data=form | {"key": "mnemo_x"}).status_code == 401
    assert not client.cookies
    answer = client.post("/sign-in", data=form | {"key": token})
    assert (answer.status_code, answer.headers["location"]) == (303, form["next"])
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "import-day" in seen(client, form["next"]).words
    assert "import-day" in seen(client, "/").words  # the key's own space
    assert "not for space" in seen(client, "/?space=mara", 403).words
    own = {"Referer": "http://localhost/?space=harbor"}
    assert client.get("/v1/turns?space=harbor", headers=own).status_code == 200
    for elsewhere in ({}, {"Referer": "http://localhost:81/"}, {"Referer": "nonsense"}):
        assert client.get("/v1/turns?space=harbor", headers=elsewhere).status_code == 403
    assert client.post("/sign-out").status_code == 303
    assert not client.cookies
    client.cookies.set(SIGNED, "mnemo_gone")
    assert client.get("/", headers=HTML).status_code == 303


@pytest.mark.parametrize(
    "next", ["//evil.example", "https://evil.example", "/\\evil.example", "evil", "/\r\nX: y", "/\\[", "//["]
)
def test_signing_in_leads_nowhere_else(shown: TestClient, next: str) -> None:
    assert dict(seen(shown, "/sign-in").forms)["/sign-in"]["next"] == "/"
    found = Seen(shown.get("/sign-in", params={"next": next}).text)
    assert dict(found.forms)["/sign-in"]["next"] == "/"


def test_a_key_shows_its_space_alone_and_one_to_read_mends_nothing(home: Home) -> None:
    for space, word in (("ann", SECRET), ("bob", "pear")):
        told = {"space": space, "session": f"{space}-chat", "role": "user", "content": f"Where is the {word}?"}
        home.request({"feed": [told | {"id": f"{space}-1"}]})
    keys = Keys(home.path)
    writes, reads = keys.add("w", ["bob"], ["read", "write"]), keys.add("r", ["bob"], ["read"])
    with asking(home.path) as (client, _):
        client.cookies.set(SIGNED, writes)
        for path in (*PAGES, "/session?session=ann-chat", "/context?session=ann-chat", f"/recall?q={SECRET}"):
            for space in ("", "&space=ann", "&space=bob"):
                answer = client.get(f"{path}{'' if '?' in path else '?'}{space}", headers=HTML)
                assert answer.status_code == (403 if space == "&space=ann" or path == "/compare" else 200)
                assert f"the {SECRET}" not in answer.text
        for space in ("ann", "bob", ""):
            answer = client.post("/mend", data={"act": "retract", "id": "ann-1", "space": space})
            assert answer.status_code == (403 if space == "ann" else 422)
        client.cookies.set(SIGNED, reads)
        found = seen(client, "/session?session=bob-chat")
        assert "pear" in found.words
        assert not [action for action, _ in found.forms if action == "/mend"]
        assert client.post("/mend", data={"act": "retract", "id": "bob-1", "space": "bob"}).status_code == 403
    assert len(recorded(home)) == 2


# -- in a browser ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real Chromium."""
    if not BROWSER:
        pytest.skip("no Chromium: name one with MNEMOLOG_CHROMIUM")
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install 'mnemolog[browser]'")
    with playwright.sync_playwright() as found:
        chromium = found.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--no-zygote"])
        yield chromium
        chromium.close()


def test_in_a_browser_pages_are_accessible_follow_the_slider_and_show_turns_as_they_come(
    browser: Any, folded: Path, tmp_path: Path
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install 'mnemolog[browser]'").Axe()
    home = Path(shutil.copytree(folded, tmp_path / "home"))
    with asking(home) as (client, _):  # so that efforts differ from those of the memory that is kept
        client.post("/mend", data=seen(client, "/?space=harbor").acts("close")[0])
    with served(home) as (url, _):
        for scheme, widths in (("light", (390, 820, 1440)), ("dark", (1440,))):
            context = browser.new_context(color_scheme=scheme, base_url=url)
            context.set_default_timeout(PATIENCE * 1000)
            page = context.new_page()
            troubles: list[str] = []
            page.on("console", lambda said, troubles=troubles: troubles.append(said.text))
            page.on("pageerror", lambda error, troubles=troubles: troubles.append(str(error)))
            for width in widths:
                page.set_viewport_size({"width": width, "height": 900})
                for path in (*PAGES, "/compare?memory=kept", "/sign-in"):
                    page.goto(f"{path}{'&' if '?' in path else '?'}space=harbor")
                    found = axe.run(page)
                    assert not found.response["violations"], (path, width, scheme, found.generate_report())
                    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)
                    assert not page.evaluate(CUT), (path, width, "something lies beyond the edge of its box")
                    assert page.evaluate(NARROWEST) > 100, (path, width, "words stand one letter under the other")
            assert not troubles
            context.close()
        page = browser.new_context(base_url=url).new_page()
        page.set_default_timeout(PATIENCE * 1000)
        expect = pytest.importorskip("playwright.sync_api").expect
        expect.set_options(timeout=PATIENCE * 1000)
        page.goto("/?space=harbor")
        expect(page.locator("#live")).to_have_text("live")
        sessions = page.locator(".sessions li")
        page.locator("#moment").focus()
        page.keyboard.press("Home")
        expect(sessions).to_have_count(1)
        assert "as_of=0%3A0" in page.url
        page.keyboard.press("End")
        expect(sessions).to_have_count(9)
        assert "as_of" not in page.url
        said = {"space": "harbor", "session": "just-now", "role": "user", "content": "Is anybody here?"}
        assert page.request.post("/v1/turns", data=said).status == 202
        expect(sessions.first).to_contain_text("just-now")
        page.get_by_role("link", name="just-now").click()
        page.get_by_text("What these words mean").click()
        answer = {"space": "harbor", "session": "just-now", "role": "assistant", "content": "Still here."}
        assert page.request.post("/v1/turns", data=answer).status == 202
        expect(page.locator(".turn").first).to_contain_text("Still here.")
        expect(page.get_by_text("shown with its turns")).to_be_visible()
        page.get_by_text("Mend").nth(1).click()
        page.get_by_role("button", name="Take back").click()
        expect(page.locator(".turn.gone")).to_contain_text("Is anybody here?")
