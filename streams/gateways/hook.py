"""`mnemolog hook`: what coding agents call at their events. Feeds their transcripts, and answers with a context.

One command for all agents and events: what comes on standard input tells which. A session's start and a prompt are
answered with what memory has for them, in the agent's form; all other events with nothing.

It never fails and never blocks: an agent would show the error, or throw the prompt away. Whatever goes wrong is told in
`hook.log` in the home, and the answer is empty. It asks whoever serves the home before it imports anything heavy; where
nobody does, a child does the work, and goes on with it after its parent has answered.

    agent                events answered              how
    Claude Code, Codex   SessionStart,                {"hookSpecificOutput": {"hookEventName": ..,
                         UserPromptSubmit               "additionalContext": ..}}
    VS Code              the same                     the same
    Gemini CLI           SessionStart, BeforeAgent    the same
    Cursor               sessionStart                 {"additional_context": ..}
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from stat import S_ISLNK
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import orjson

from streams.core import DEFAULT_SPACE
from streams.core.halves import loads
from streams.gateways.sources import HEAD, detect
from streams.gateways.sources.shared import MISFITS, Fields, Grown, Unfit, Value, hashed, name_of, project_space, rest

if TYPE_CHECKING:
    from streams.runtime.home import Home

SECONDS = 0.9
"""Within which an answer is there, or none is given (MNEMOLOG_HOOK_SECONDS for another). Agents wait from one second
(Codex at a session's end) up."""
LINGER = 300
"""Seconds after which a child that goes on with the work is ended."""
IDLE = 600
"""Seconds without an event for which it serves the home from then on (MNEMOLOG_HOOK_IDLE; 0: it does not), so that the
next one is answered at once."""
MOST_INPUT = 16 * 1024 * 1024
MOST_CHARACTERS = 9_500
"""Of a context: Claude Code writes more than 10,000 to a file, Codex takes 2,500 tokens."""
START, PROMPT = 1800, 1200
"""Tokens of a context at a session's start and at a prompt."""
FEW, MANY = 300, 5000
"""Turns fed at one event: before an answer, and where nobody waits for what is folded of them."""
TOGETHER = 500
"""Turns of one request."""
LAST = 100
"""Turns among which the newest session is looked for that is no subagent's."""
MOST_LOG = 256 * 1024
KEPT = 1000
"""Transcripts of which is known how far they were read."""
END = 1024
"""Bytes before the place up to which a transcript was read: where they are others now, it is read anew."""
NEW = {"present", "for_session"}
"""Arguments of questions that a server of an older version, which still runs after an update, may not know."""
READERS = {"claude-code": "claude_code", "codex": "codex", "gemini-cli": "gemini_cli"}
"""Formats of transcripts that are read as they grow, and their modules."""

Json = dict[str, Any]
NOT_NOW = """<memory by="mnemolog">
Nothing of earlier sessions can be given just now: {}. What is said is recorded. A person brings it back: {}
</memory>"""
"""What a session begins with where this version of the program cannot fold live on."""
STARTS = ("SessionStart", "sessionStart")
PROMPTS = ("UserPromptSubmit", "BeforeAgent", "userPromptSubmitted")
SPOKEN = {
    "UserPromptSubmit": ("user", "prompt"),
    "BeforeAgent": ("user", "prompt"),
    "beforeSubmitPrompt": ("user", "prompt"),
    "Stop": ("assistant", "last_assistant_message"),
    "AfterAgent": ("assistant", "prompt_response"),
    "afterAgentResponse": ("assistant", "text"),
}
"""What an event itself tells, for agents that keep no transcript: role, and field of the words."""


class Call(NamedTuple):
    """An event of an agent."""

    event: str
    session: str
    folder: str
    transcript: str
    given: Json

    @classmethod
    def of(cls, raw: bytes) -> Call:
        """The event that came on standard input. Raises ValueError for none."""
        given = loads(raw)
        if not isinstance(given, dict):
            raise ValueError("no JSON object came on standard input")
        event = given.get("hook_event_name") or given.get("hookEventName")
        session = given.get("session_id") or given.get("conversation_id") or given.get("sessionId")
        if not isinstance(event, str) or not isinstance(session, str):
            raise ValueError("what came on standard input names no hook_event_name and session_id")
        roots = given.get("workspace_roots")
        folder = os.environ.get("CLAUDE_PROJECT_DIR") or os.environ.get("GEMINI_PROJECT_DIR") or given.get("cwd")
        folder = roots[0] if isinstance(roots, list) and roots else folder
        path = given.get("transcript_path")
        named = folder if isinstance(folder, str) else ""
        return cls(event, name_of(session), named, path if isinstance(path, str) else "", given)

    @property
    def is_answered(self) -> bool:
        """Whether a context is wanted."""
        return self.event in (*STARTS, *PROMPTS) and not self.given.get("agent_id")

    def answer(self, context: str) -> bytes:
        """A context as this agent takes it."""
        if self.event == "sessionStart":
            return orjson.dumps({"additional_context": context})
        return orjson.dumps({"hookSpecificOutput": {"hookEventName": self.event, "additionalContext": context}})


Reply = Callable[[bytes], None]
"""Gives an agent its answer; b"" is none."""


class Asked(NamedTuple):
    """Who does what is asked: a server, or this process itself."""

    feed: Callable[[list[Fields]], list[Json]]
    ask: Callable[..., Any]


def run(stdin: IO[bytes], stdout: IO[bytes], home: Path) -> None:
    """Answers one event. Raises nothing."""
    if not _is_own(home):  # nothing is told either: it would be written where another user says
        return
    began = time.monotonic() - _age()
    event, answered = "?", False
    call: Call | None = None

    def reply(answer: bytes) -> None:
        nonlocal answered
        if answer and call is not None:
            stdout.write(answer + b"\n")
            stdout.flush()
            _owed(call, home).unlink(missing_ok=True)
        answered = True

    try:
        call = Call.of(stdin.read(MOST_INPUT))
        event = call.event
        (home / "hooks").mkdir(mode=0o700, parents=True, exist_ok=True)
        _through_server(call, home, reply, began + float(os.environ.get("MNEMOLOG_HOOK_SECONDS") or SECONDS))
    except BaseException as error:  # why any: an agent must go on whatever happens
        note(home, event, error)
        if call is not None and event in STARTS and not answered:
            with suppress(OSError):
                _owed(call, home).touch()


def _is_own(home: Path) -> bool:
    """Whether a home, and what is written there before it is opened, are this user's own, and no links."""
    for place in (home.resolve(), home / "hooks", home / "hook.log"):
        with suppress(FileNotFoundError):
            found = place.lstat()
            if found.st_uid != os.getuid() or S_ISLNK(found.st_mode):
                return False
    return True


def _age() -> float:
    """Seconds since this process was started, half a one at most: who waits for it waits since then."""
    with suppress(OSError, ValueError, AttributeError):  # systems other than Linux tell it otherwise
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
        return min(max(age, 0.0), 0.5)
    return 0.0


def _owed(call: Call, home: Path) -> Path:
    """A file that says that a session's start was not answered: then its first prompt is, as the start would be."""
    return home / "hooks" / f"{hashed(call.session)}.owed"


def note(home: Path, event: str, error: BaseException | str) -> None:
    """Tells in the home's hook.log what went wrong, without anything that was said."""
    with suppress(Exception):
        path = home / "hook.log"
        if path.exists() and path.stat().st_size > MOST_LOG:
            path.replace(home / "hook.log.1")
        said = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else error
        line = " ".join(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {event[:40]!r} {said}".split())[:500]
        with path.open("a", encoding="utf-8", errors="replace") as log:
            log.write(line + "\n")


def _through_server(call: Call, home: Path, reply: Reply, deadline: float) -> None:
    """Gives the answer by whoever serves the home; by a child where nobody does."""
    from streams.core.errors import MnemologError, UsageError
    from streams.runtime.home.client import HolderLeftError, ask_holder

    socket, is_older = home / "socket", False

    def request(message: Json) -> Any:
        return ask_holder(socket, message, max(deadline - time.monotonic(), 0.001))

    def ask(what: str, **given: Any) -> Any:
        nonlocal is_older
        try:
            return request({"ask": what, "arguments": given})
        except UsageError:
            if not given.keys() & NEW:
                raise
            is_older = True
            return request({"ask": what, "arguments": {name: given[name] for name in given.keys() - NEW}})

    try:
        if socket.exists():
            work(call, home, Asked(lambda fields: request({"feed": fields}), ask), reply, deadline)
            if is_older:
                with suppress(MnemologError, HolderLeftError):  # one that a person started stays
                    request({"leave": True})
            return
    except HolderLeftError:
        pass
    reply(_through_child(call, home, deadline))


def _through_child(call: Call, home: Path, deadline: float) -> bytes:
    """The answer by a process that opens the home itself; nothing where it takes too long, and it goes on alone."""
    read, write = os.pipe()
    if os.fork() == 0:
        try:
            os.close(read)
            _let_go()
            signal.alarm(LINGER)

            def reply(answer: bytes) -> None:
                with suppress(BrokenPipeError):  # it did not wait so long
                    os.write(write, answer)
                os.close(write)

            _alone(call, home, reply)
            signal.alarm(0)
            _serve(home)
        except BaseException as error:
            note(home, call.event, error)
        finally:
            os._exit(0)
    os.close(write)
    found = b""
    while call.is_answered:
        if not select.select([read], [], [], max(deadline - time.monotonic(), 0))[0]:
            raise TimeoutError("there was no answer in time; the work goes on")
        piece = os.read(read, 1 << 20)
        if not piece:
            break
        found += piece
    return found


def _let_go() -> None:
    """Makes this process nobody's child: who started the hook waits neither for it nor for what it has open."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)


@contextmanager
def _opened(path: Path) -> Iterator[Home]:
    """A home, closed with its log after that: this process ends without what Python does at its end, and where a log's
    journal is left beside it, whoever opens it next reads all of it, to see that none of it is another's."""
    from streams.gateways.registry import Registry
    from streams.runtime.home import Home

    home = Home(path, Registry())
    try:
        yield home
    finally:
        home.close(whole=True)


def _alone(call: Call, home: Path, reply: Reply) -> None:
    """Gives the answer; puts the home away after that."""
    from streams.logs.where import open_log
    from streams.runtime.home.appending import feed
    from streams.runtime.home.folder import Folder
    from streams.runtime.requests import Feed

    def fed(fields: list[Fields]) -> list[Json]:
        log = open_log(Folder(home).path)
        try:
            return feed([Feed(feed=fields)], log)[0]
        finally:
            log.close()

    with _opened(home) as house, house.asking_on():
        work(call, home, Asked(fed, house.ask), reply, time.monotonic() + LINGER)


def _serve(home: Path) -> None:
    """Serves the home until no event came for a while, a signal says to stop, or it is gone."""
    from streams.core.errors import BusyError
    from streams.runtime.home.server import serve

    idle = float(os.environ.get("MNEMOLOG_HOOK_IDLE") or IDLE)
    if idle > 0:
        stopped: list[int] = []
        signal.signal(signal.SIGTERM, lambda caught, frame: stopped.append(caught))
        with suppress(BusyError), _opened(home) as house:  # another does
            serve(house, lambda: bool(stopped) or not (home / "hooks").exists(), idle=idle, makes_way=True)


def work(call: Call, home: Path, asked: Asked, reply: Reply, deadline: float) -> None:
    """Feeds what is new in the transcript, and gives the answer; b"" for none.

    What was shown is recorded after that: nobody waits for it.
    """
    from streams.core.errors import OutdatedError

    space = os.environ.get("MNEMOLOG_SPACE", "")
    transcript = Transcript(Path(call.transcript).expanduser(), home, space) if call.transcript else None
    if transcript is not None and transcript.is_read:
        left = FEW if call.is_answered else MANY
        while left > 0 and time.monotonic() < deadline:
            turns = list(transcript.new(min(left, TOGETHER), deadline))
            _feed(turns, asked, home, call.event)
            transcript.keep()
            if transcript.misfits:
                told = f"{len(transcript.misfits)} messages of {transcript.path} were not understood"
                note(home, call.event, f"{told}: {transcript.misfits[0]}")
            left = left - len(turns) if turns else 0
        space = space or transcript.space
    space = space or project_space(call.folder) or DEFAULT_SPACE
    if transcript is None or transcript.is_strange:
        _feed(_spoken(call, space), asked, home, call.event)
    if not call.is_answered:
        reply(b"")
        return
    begins = call.event in STARTS or _owed(call, home).exists()
    try:
        found = _context(call, space, asked, begins)
    except OutdatedError as error:
        # Why told: after an upgrade memory is away until somebody acts, and nobody looks into hook.log.
        reply(call.answer(NOT_NOW.format(error, error.way_out)) if begins else b"")
        raise
    reply(call.answer(found["text"]) if found else b"")
    if found and found["shown"]:
        asked.feed([found["shown"]])


def _feed(turns: list[Fields], asked: Asked, home: Path, event: str) -> None:
    """Feeds some turns. How far a transcript was read is kept after that, so that what is not fed comes again."""
    refused = []
    for turn, outcome in zip(turns, asked.feed(turns) if turns else (), strict=False):
        reason = outcome.get("refused", "")
        if reason.startswith("id:"):  # of a fork, or of a message that was not whole when it was read first
            pieces = turn.pieces() if isinstance(turn, Grown) else ()
            _feed(rest(pieces, lambda piece: "duplicate" in asked.feed([piece])[0]), asked, home, event)
        elif reason:
            refused.append(reason)
    if refused:
        note(home, event, f"{len(refused)} of {len(turns)} events were refused: {refused[0]}")


def _spoken(call: Call, space: str) -> list[Fields]:
    """What the event itself tells was said: of agents without a transcript that can be read."""
    role, field = SPOKEN.get(call.event, ("", ""))
    content = call.given.get(field) if field else None
    if not isinstance(content, str) or not content.strip():
        return []
    turn = call.given.get("generation_id") or call.given.get("turn_id")
    # Why half a minute: two agents' settings may name this command for one event, and a "yes" may be said again.
    id_ = f"{turn}/{role}" if turn else hashed(call.session, role, content, int(time.time()) // 30)
    said = {"id": name_of(id_), "space": space, "session": call.session, "role": role, "content": content}
    return [said | ({"agent": "cursor"} if role == "assistant" and "conversation_id" in call.given else {})]


def _context(call: Call, space: str, asked: Asked, begins: bool) -> Json | None:
    """What memory has for a session that begins, or for a prompt that needs more than is at hand; None for nothing."""
    prompt = call.given.get("prompt")
    prompt = prompt[:20_000] if isinstance(prompt, str) and call.event in PROMPTS else ""
    if call.event in PROMPTS and not prompt.strip():
        return None
    how: Json = {"space": space, "session": call.session}
    more: Json = {}
    if begins and (prompt or not asked.ask("view", name="recorded_turns", limit=1, columns="turn_id", **how)):
        # Why the newest: a session in which nothing was said yet begins where the last one ended.
        order, columns = "position DESC", "session"
        newest = asked.ask("view", name="recorded_turns", space=space, order=order, limit=LAST, columns=columns)
        others = dict.fromkeys(row["session"] for row in newest if row["session"] != call.session)
        if not others:
            return None
        how["session"] = next((session for session in others if "/" not in session), next(iter(others)))
        more["for_session"] = call.session
    if not begins and not asked.ask("needs_recall", message=prompt, **how)["needed"]:
        return None
    budget = START if begins else PROMPT
    while budget > 200:
        # Why without: an agent has before it what was said in its session, except where it begins anew.
        without = [] if begins else ["recent", "past"]
        # Why the present: what fell due since the last event is overdue for who works now.
        given: Json = {"question": prompt, "budget": budget, "without": without, "present": int(time.time() * 1e6)}
        found = asked.ask("context", **given, **how, **more)
        if not found["sections"]:
            return None
        if len(found["text"]) <= MOST_CHARACTERS:
            return dict(found)
        budget //= 2
    return None


class Transcript:
    """A transcript that grows, and how far it was read: what was read is told from what is new by its length."""

    def __init__(self, path: Path, home: Path, space: str) -> None:
        self.path = path
        self._kept = home / "hooks" / f"{hashed(str(path))}.json"
        self._stream: IO[bytes] | None = None
        state: Json = {}
        with suppress(OSError, ValueError):
            state = orjson.loads(self._kept.read_bytes())
        head = b""
        with suppress(OSError):
            self._stream = path.open("rb")
            head = self._stream.read(HEAD)
        if not (state and head and hashed_head(head, state) == state["head"]):
            line = head.partition(b"\n")[0]
            known = detect(head, READERS)
            state = {"offset": 0, "size": len(line), "head": hashed(line.decode(errors="replace")), "format": known}
        self._state = state
        self.is_read = state["format"] in READERS and self._stream is not None
        """Whether it is there, and one that is read here."""
        self.is_strange = bool(head) and not self.is_read
        """Whether it is there, and in a format that nothing is read of."""
        self.space = ""
        self.misfits: list[str] = []
        """What is wrong with messages that were left out of what was read last."""
        if self.is_read:
            module = import_module(f"streams.gateways.sources.{READERS[state['format']]}")
            self._reader = module.Session(space, state=state.get("reader"))
            self._gathered: Callable[[Iterator[Value]], Iterator[Value]] = module.gathered
            self.space = self._reader.state.get("space", "")

    def new(self, most: int, deadline: float) -> Iterator[Fields]:
        """The events of whole lines that were not read yet: about as many as asked for, and until the deadline."""
        assert self._stream is not None
        # Why both: agents take a last message away again, and what they write after that may reach as far as it did.
        is_shorter = os.fstat(self._stream.fileno()).st_size < self._state["offset"]
        if is_shorter or self._state.get("end") not in (None, self._end()):
            self._state["offset"] = 0
        self._stream.seek(self._state["offset"])
        self._count = 0
        self.misfits = []
        for value in self._gathered(self._lines(most, deadline)):
            try:
                for fields in self._reader(value.value):
                    self._count += 1
                    yield fields
            except MISFITS as error:  # the next ones may be as they were
                self.misfits.append(str(error) if isinstance(error, Unfit) else type(error).__name__)
        self.space = self._reader.state.get("space", "")

    def _lines(self, most: int, deadline: float) -> Iterator[Value]:
        assert self._stream is not None
        while self._count < most and time.monotonic() < deadline and (line := self._stream.readline()).endswith(b"\n"):
            self._state["offset"] += len(line)
            with suppress(ValueError):
                yield Value(0, -1, b"", loads(line))

    def _end(self) -> str:
        """The end of what was read, as a hash."""
        assert self._stream is not None
        begin = max(0, self._state["offset"] - END)
        self._stream.seek(begin)
        return hashed(self._stream.read(self._state["offset"] - begin).decode(errors="replace"))

    def keep(self) -> None:
        """Remembers how far it was read; forgets transcripts that were not read for the longest time."""
        self._state["end"] = self._end()
        partial = self._kept.with_suffix(f".{os.getpid()}")
        partial.write_bytes(orjson.dumps(self._state | {"reader": self._reader.state}))
        partial.replace(self._kept)
        if self._state["offset"] == 0 or int(time.time()) % 100 == 0:
            seen = (path for path in self._kept.parent.iterdir() if not path.name.endswith(".installed.json"))
            kept = sorted(seen, key=lambda path: path.stat().st_mtime)
            for path in kept[: max(0, len(kept) - KEPT)]:
                path.unlink(missing_ok=True)


def hashed_head(head: bytes, state: Json) -> str:
    """A transcript's first line as far as it was there when it was first read."""
    return hashed(head[: state.get("size", 0)].decode(errors="replace"))


def main(arguments: list[str]) -> None:
    """Answers an event as the command line has it. Raises nothing, whatever is asked for."""
    home: str | None = None
    with suppress(Exception):
        for n, word in enumerate(arguments):
            if word.startswith("--home="):
                home = word.partition("=")[2]
            elif word == "--home" and n + 1 < len(arguments):
                home = arguments[n + 1]
        from streams.logs import DEFAULT_HOME

        run(
            sys.stdin.buffer,
            sys.stdout.buffer,
            Path(home or os.environ.get("MNEMOLOG_HOME") or DEFAULT_HOME).expanduser(),
        )
    with suppress(Exception):
        sys.stdout.flush()
