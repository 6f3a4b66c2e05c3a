"""The files of a report, which are written when a sweep is done: each but those of measured times follows from what was
asked for and from the corpus alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from parsers.cases.jsontext import plain
from parsers.sweeps.cost_growth import growth
from parsers.sweeps.report_html import report_html
from parsers.sweeps.shard import TOKEN, Cost
from parsers.sweeps.timing_html import timing_html
from webapp.sweeps.row_table import RowId, can_write, write_table
from webapp.sweeps.sweep_folder import Folder
from webapp.sweeps.swept import Planned, Swept

TABLE = "rows.parquet"


def write_reports(folder: Folder, made: Planned, swept: Swept, changes: Mapping[str, Any] | None = None) -> None:
    """Write all of it as JSON, the smallest case of each signature, the rows in which something is wrong, what outputs
    cost, and what changed beside another sweep, where there is one."""
    folder.write("report.json", plain(swept.report, 2) + "\n")
    for one in swept.report["signatures"]:
        if one["smallest"]["case"] is not None:
            folder.write(f"cases/{one['id']}.case.json", plain(one["smallest"]["case"], 2) + "\n")
    timing = _timing(swept.costs)
    folder.write("timing.json", plain(timing, 2) + "\n")
    folder.write("timing.html", timing_html(timing))
    if changes is not None:
        folder.write("changes.json", plain(changes, 2) + "\n")
    folder.write("report.html", report_html(swept.report, changes))
    folder.write_lines("rows.jsonl", map(_line, row_ids(folder, made)))
    if can_write():
        with folder.opened(TABLE) as out:
            write_table(out, row_ids(folder, made), swept.report["signatures"])


def row_ids(folder: Folder, made: Planned) -> Iterator[RowId]:
    """The rows in which something is wrong, each with the ids of its signatures, in order: a shard at a time."""
    file, before = -1, 0
    for shard in made.shards:
        if shard.file != file:
            file, before = shard.file, 0
        outcome = folder.kept(shard)
        if outcome is None:
            continue
        for place, ids in outcome.found:
            yield RowId(made.files[place.file].name, before + place.row, ids)
        before += outcome.summary.lines[shard.file, shard.number]


def _line(row: RowId) -> str:
    return plain({"file": row.file, "line": row.line, "signatures": list(row.signatures)})


def _timing(costs: Mapping[int, Cost]) -> dict[str, Any]:
    """Measured times, which are another time every time."""
    rows = []
    for size, cost in sorted(costs.items()):
        tokens = cost.characters / TOKEN
        rows.append(
            {
                "tokens": [1 << size >> 1, 1 << size],
                "outputs": cost.outputs,
                "seconds": round(cost.seconds, 6),
                "microseconds_a_token": round(1e6 * cost.seconds / tokens, 3) if tokens else None,
            }
        )
    seconds = round(sum([cost.seconds for cost in costs.values()]), 6)
    return {"by_length": rows, "seconds": seconds, "growth": growth(costs)}
