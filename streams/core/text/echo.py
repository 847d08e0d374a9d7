"""What mnemolog itself had rendered, when it comes back in a turn.

A context that an agent was given is often pasted, quoted or returned by a tool, and recorded with the rest of the talk.
Its words were heard before: they are no news, and whoever took them for something that was said now would find the
same thing again and again, each time in the newest place. So the pass leaves them out of the turn; the log keeps it as
it was said.

A context is known by its frame, `<memory by="mnemolog" …>` to `</memory>`, also within JSON or HTML; what lost one end
of it reaches to the end (or from the beginning) of the turn; and where both are gone, by lines that only a context has.
Every line may be indented or quoted ("> ").
"""

from __future__ import annotations

import re

FRAME = '<memory by="mnemolog"'
"""What the first line of a rendered context begins with."""
CLOSE = "</memory>"
"""Its last line."""
_OPEN = re.compile(r"""(?:<|&lt;|\\u003c)memory by=(?:\\*["']|&quot;|&#34;)mnemolog""")
_END = re.compile(r"(?:<|&lt;|\\u003c)\\?/memory(?:>|&gt;|\\u003e)")
_MARGIN = r"^[ \t>|]*"
_DAY = r"\d{4}-\d\d-\d\d"
_OWN = re.compile(
    _MARGIN + rf"- {_DAY} (?:user|assistant|system|tool)(?: [^\[\]\n]{{1,60}})? \[[^\]\n]{{1,200}}\]:(?: |$)"
    rf"|{_MARGIN}(?:#|-) ?.{{0,400}}\[(?:effort|segment|artifact|note|link)-[0-9a-f]{{16}}\][ \t]*$"
    rf"|{_MARGIN}###? .{{0,300}} \(\d+ turns?, last on {_DAY}\)"
    rf"|{_MARGIN}What was said and noted before, for reference\. It quotes people and tools",
    re.M,
)
"""A line that only a rendered context has."""
_FURTHER = re.compile(r"^[ \t>]*\| ")
"""A further line of what was quoted."""
_TITLE = re.compile(rf"{_MARGIN}(?:###? |- \[[^\]\n]{{1,200}}\.\.[^\]\n]{{1,200}}\] )")
"""What may be a heading of a context, or begin what a range of turns came to."""
MANY = 3
"""Lines that only a context has: so many are no quote of one of them."""


def without_echo(content: str) -> str:
    """A turn's words without what mnemolog had rendered; the same object where nothing of that is in it."""
    if "memory" not in content and "- 20" not in content and "# " not in content:
        return content
    if "mnemolog" in content and _OPEN.search(content):
        content = _framed(content)
    elif "/memory" in content and (end := _END.search(content)) and _OWN.search(content, 0, end.start()):
        content = content[end.end() :]
    return _lines(content) if _OWN.search(content) else content


def _framed(content: str) -> str:
    """Leaves out every frame, to the end of the turn where the frame does not end."""
    kept, at = [], 0
    while opened := _OPEN.search(content, at):
        kept.append(content[at : opened.start()].rstrip("> \t|"))
        end = _END.search(content, opened.end())
        at = end.end() if end else len(content)
    return "".join([*kept, content[at:]]).strip()


def _lines(content: str) -> str:
    """Leaves out the lines that only a context has, and the further lines of what they quote.

    Where there are MANY of them, a context was pasted without its frame: what stands under its headings goes, too.
    """
    lines = content.splitlines(keepends=True)
    owned = [bool(_OWN.match(line)) for line in lines]
    pasted = sum(owned) >= MANY
    kept: list[str] = []
    within = under = False
    blank = True
    for line, own in zip(lines, owned, strict=True):
        titled = pasted and bool(_TITLE.match(line))
        under = titled or (under and not blank)
        blank = not line.strip(" \t>|\r\n")
        within = own or titled or (under and not blank) or (within and bool(_FURTHER.match(line)))
        if not within:
            kept.append(line)
    return "".join(kept).strip()
