"""Anthropic's memory tool over mnemolog: what a model writes into files under /memories is memory, and recall finds it.

    from streams.gateways.adapters.anthropic_memory import MemoryTool

    runner = client.beta.messages.tool_runner(model=..., max_tokens=..., messages=..., tools=[MemoryTool("ann")])

| command | here |
|---|---|
| create | a turn in the session named for the path, with the text in `parts`, too; an error where the path is taken |
| str_replace, insert | a turn with the new text; the one before is retracted (`edited`) |
| delete | the file, or all files of the directory, are retracted (`cleared`): history keeps them |
| rename | a turn under each new path; those under the old are retracted |
| view | as `BetaLocalFilesystemMemoryTool` shows it; the size of a directory is that of its files |

Results and errors are worded as that tool words them. A directory is there while files are in it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types import beta

from mnemolog import Memory
from streams.gateways.adapters import awaited
from streams.gateways.adapters.documents import ChangedError, Documents

Create = beta.BetaMemoryTool20250818CreateCommand
Delete = beta.BetaMemoryTool20250818DeleteCommand
Insert = beta.BetaMemoryTool20250818InsertCommand
Rename = beta.BetaMemoryTool20250818RenameCommand
StrReplace = beta.BetaMemoryTool20250818StrReplaceCommand
View = beta.BetaMemoryTool20250818ViewCommand

KIND = "anthropic-memory"
ROOT = "/memories"
MAX_LINES = 999_999
SHOWN = 2
"""Levels of a directory that are shown."""
AROUND = 2
"""Lines shown before and after what was replaced."""


class MemoryTool(BetaAbstractMemoryTool):
    """The files of one space. Threads and processes may share them."""

    def __init__(self, space: str = "", *, memory: Memory | None = None, cache_control: Any = None, **how: Any) -> None:
        """`memory`, or `space` and `how` it is reached, are as for `Memory`."""
        super().__init__(cache_control=cache_control)
        self.documents = Documents(
            memory or Memory(space, **how), KIND, lambda file: (file["path"], "assistant", file["text"])
        )

    def view(self, command: View) -> str:
        """What a directory holds, or the lines of a file."""
        path = _path(command.path)
        files = self._files()
        if path in files:
            return _shown(command.path, files[path], command.view_range)
        inside = {name[len(path) + 1 :]: text for name, text in files.items() if name.startswith(f"{path}/")}
        if not inside and path != ROOT:
            raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
        lines = [f"{_size(sum(map(_bytes, inside.values())))}\t{command.path}"]
        lines += [f"{size}\t{command.path}/{name}" for name, size in _listed(inside)]
        header = f"Here're the files and directories up to 2 levels deep in {command.path}, excluding hidden items:"
        return "\n".join([header, *lines])

    def create(self, command: Create) -> str:
        """Makes a new file."""
        path = _path(command.path)
        if not self._make(path, command.file_text, self._files()):
            raise ToolError(f"File {command.path} already exists")
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: StrReplace) -> str:
        """Replaces what stands in a file once."""
        old, place = command.old_str, 0

        def replaced(text: str) -> str:
            nonlocal place
            found = _places(text, old)
            if not found:
                raise ToolError(
                    f"No replacement was performed, old_str `{old}` did not appear verbatim in {command.path}."
                )
            if text.count(old) > 1:
                lines = ", ".join(str(text[:start].count("\n") + 1) for start in found)
                raise ToolError(
                    f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
                    "Please ensure it is unique"
                )
            place = text[: found[0]].count("\n")
            return text.replace(old, command.new_str)

        lines = self._edit(command.path, replaced).split("\n")
        start = max(0, place - AROUND)
        snippet = _numbered(lines[start : place + AROUND + 1], start + 1)
        return (
            f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        )

    def insert(self, command: Insert) -> str:
        """Inserts text behind a line of a file; 0 is before the first."""

        def inserted(text: str) -> str:
            lines = text.removesuffix("\n").split("\n") if text else []
            if not 0 <= command.insert_line <= len(lines):
                raise ToolError(
                    f"Invalid `insert_line` parameter: {command.insert_line}. "
                    f"It should be within the range [0, {len(lines)}]."
                )
            lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
            new = "\n".join(lines)
            return new if new.endswith("\n") else f"{new}\n"

        self._edit(command.path, inserted)
        return f"The file {command.path} has been edited."

    def delete(self, command: Delete) -> str:
        """Takes a file or a directory away."""
        path = _path(command.path)
        if path == ROOT:
            raise ToolError("Cannot delete the /memories directory itself")
        files = [document for document in self.documents.all() if _lies(document.value["path"], path)]
        if not files:
            raise ToolError(f"The path {command.path} does not exist")
        self.documents.remove(files)
        return f"Successfully deleted {command.path}"

    def rename(self, command: Rename) -> str:
        """Moves a file or a directory."""
        old, new = _path(command.old_path), _path(command.new_path)
        if old == ROOT:
            raise ToolError("Cannot rename the /memories directory itself")
        documents = self.documents.all()
        files = {document.value["path"]: document.value["text"] for document in documents}
        if new == ROOT or any(_lies(name, new) for name in files):
            raise ToolError(f"The destination {command.new_path} already exists")
        moved = [name for name in files if _lies(name, old)]
        if not moved:
            raise ToolError(f"The path {command.old_path} does not exist")
        if _lies(new, old):
            raise ToolError(f"The destination {command.new_path} lies in {command.old_path}")
        for name in moved:
            if not self._make(new + name[len(old) :], files[name], files):
                raise ToolError(f"The destination {command.new_path} already exists")
        self.documents.remove([document for document in documents if document.value["path"] in moved])
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Takes all files away."""
        self.documents.remove(self.documents.all())
        return "All memory cleared"

    def _files(self) -> dict[str, str]:
        """The text of all files, by path."""
        return {document.value["path"]: document.value["text"] for document in self.documents.all()}

    def _make(self, path: str, text: str, files: dict[str, str]) -> bool:
        """Makes a file; False where its path is taken. Raises ToolError where it would lie in a file."""
        if inside := next((name for name in files if path.startswith(f"{name}/")), None):
            raise ToolError(f"The path {inside} is not a directory.")
        before = self.documents.latest(path)
        if path == ROOT or any(_lies(name, path) for name in files) or (before and before.stands):
            return False
        try:
            self.documents.put({"path": path, "text": text}, path, before=before)
        except ChangedError:
            return False
        return True

    def _edit(self, told: str, new: Callable[[str], str]) -> str:
        """Gives a file the text that `new` makes of what it has, which is returned."""
        path = _path(told)

        def changed(file: Any) -> Any:
            if file is None:
                if path == ROOT or any(_lies(name, path) for name in self._files()):
                    raise ToolError(f"The path {told} is not a file.")
                raise ToolError(f"The path {told} does not exist. Please provide a valid path.")
            return {"path": path, "text": new(file["text"])}

        return str(self.documents.change(changed, path)["text"])


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """As `MemoryTool`, to be awaited."""

    def __init__(self, space: str = "", *, memory: Memory | None = None, cache_control: Any = None, **how: Any) -> None:
        """As `MemoryTool`."""
        super().__init__(cache_control=cache_control)
        self.own = MemoryTool(space, memory=memory, **how)

    view = awaited(MemoryTool.view)
    create = awaited(MemoryTool.create)
    str_replace = awaited(MemoryTool.str_replace)
    insert = awaited(MemoryTool.insert)
    delete = awaited(MemoryTool.delete)
    rename = awaited(MemoryTool.rename)
    clear_all_memory = awaited(MemoryTool.clear_all_memory)


def _path(told: str) -> str:
    """A path without detours. Raises ToolError for one outside of /memories."""
    path = posixpath.normpath(told)
    if told != ROOT and not told.startswith(f"{ROOT}/"):
        raise ToolError(f"Path must start with /memories, got: {told}")
    if not _lies(path, ROOT):
        raise ToolError(f"Path {told} would escape /memories directory")
    return path


def _lies(name: str, path: str) -> bool:
    """Whether a file is what a path names, or lies in it."""
    return name == path or name.startswith(f"{path}/")


def _listed(files: dict[str, str], above: str = "", level: int = 1) -> list[tuple[str, str]]:
    """What a directory holds, with sizes, in the order of names; hidden names are left out."""
    sizes: dict[str, int] = {}
    for name, text in files.items():
        first, slash, _ = name.partition("/")
        sizes[first + slash] = sizes.get(first + slash, 0) + _bytes(text)
    found = []
    for name in sorted(sizes, key=lambda name: name.rstrip("/")):
        if not name.startswith("."):
            found.append((above + name, _size(sizes[name])))
            if name.endswith("/") and level < SHOWN:
                inside = {path[len(name) :]: text for path, text in files.items() if path.startswith(name)}
                found += _listed(inside, above + name, level + 1)
    return found


def _shown(path: str, text: str, bounds: list[int] | None) -> str:
    """The lines of a file, from the first to the last of `bounds`, where -1 is the last of all."""
    lines, start = text.split("\n"), 0
    if len(lines) > MAX_LINES:
        raise ToolError(f"File {path} exceeds maximum line limit of 999,999 lines.")
    if bounds and len(bounds) == 2:
        start = max(1, bounds[0]) - 1
        lines = lines[start : len(lines) if bounds[1] == -1 else bounds[1]]
    return f"Here's the content of {path} with line numbers:\n{_numbered(lines, start + 1)}"


def _numbered(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, first))


def _places(text: str, sought: str) -> list[int]:
    """Where `sought` begins in a text, overlaps too."""
    found, start = [], text.find(sought)
    while start != -1:
        found.append(start)
        start = text.find(sought, start + 1)
    return found


def _bytes(text: str) -> int:
    return len(text.encode(errors="replace"))


def _size(count: int) -> str:
    """Bytes as people read them, as that tool writes them."""
    unit = min(max(count.bit_length() - 1, 0) // 10, 3)
    size = count / 1024**unit
    return f"{int(size) if size == int(size) else f'{size:.1f}'}{'BKMG'[unit]}"
