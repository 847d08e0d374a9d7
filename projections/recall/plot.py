"""A picture of one memory: how active and how well kept it was, and what happened to it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from streams.core.errors import UsageError

FORMATS = (".svg", ".png")


def draw(found: dict[str, Any], path: Path) -> None:
    """Draws the `curve` and `accesses` of an explained memory into `path`, as SVG or PNG by its name.

    Raises UsageError for another format, for a place that cannot be written, and where matplotlib is not installed.
    """
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{path.name} is no picture", f"name a file that ends in {' or '.join(FORMATS)}")
    try:
        import matplotlib
    except ImportError:
        raise UsageError("drawing needs matplotlib", "pip install 'mnemolog[plot]'") from None
    matplotlib.use("agg")  # no window, wherever it runs
    matplotlib.rcParams["svg.hashsalt"] = "mnemolog"  # the same memory gives the same bytes
    try:
        figure = _figure(found)
    except (OverflowError, ValueError) as error:
        raise UsageError(f"these times cannot be drawn: {error}", "ask --at an earlier time") from error
    try:
        figure.savefig(path, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", "name another place") from error


def _figure(found: dict[str, Any]) -> Any:
    from matplotlib.figure import Figure

    curve = found["curve"]
    times = [datetime.fromtimestamp(point["at"] / 1e6, UTC) for point in curve]
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    activation, kept = figure.subplots(2, 1, sharex=True)
    activation.plot(times, [point["activation"] for point in curve], color="#3465a4")
    activation.set_ylabel("activation")
    kept.plot(times, [point["retention"] for point in curve], color="#4e9a06", label="retention")
    kept.plot(
        times, [point["fast"] for point in curve], color="#ce5c00", linewidth=1, linestyle=":", label="fast trace"
    )
    kept.plot(
        times, [point["slow"] for point in curve], color="#75507b", linewidth=1, linestyle="--", label="slow trace"
    )
    kept.set_ylim(-0.03, max(1.03, *(point["fast"] * 1.05 for point in curve)))
    kept.set_ylabel("kept")
    kept.legend(loc="upper right", frameon=False, fontsize="small")
    now = datetime.fromtimestamp(found["asked_at"] / 1e6, UTC)
    for axes in (activation, kept):
        for access in found["accesses"]:
            axes.axvline(datetime.fromisoformat(access["at"]), color="#888a85", linewidth=0.6, alpha=0.6)
        axes.axvline(now, color="#a40000", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    activation.set_title(_title(found), loc="left", fontsize="small")
    figure.autofmt_xdate()
    return figure


def _title(found: dict[str, Any]) -> str:
    said = " ".join(found["text"].split())
    clipped = said if len(said) <= 90 else said[:89] + "…"
    return f"{found['turn_id']}: {clipped}".replace("$", r"\$")  # a dollar would begin a formula
