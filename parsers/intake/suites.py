"""A file of somebody's suite as cases, whatever shape it has: one way for the command line and for what is imported.

case files and corpora, their own cases; vLLM's tests in Python; Dynamo's YAML and recordings, a case for each output;
rows with columns. What cannot be a case is in `skipped`, and the others are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from parsers.cases.case import CaseError
from parsers.cases.io import dumps, load_case
from parsers.intake.case_data import RecordingError, case_data
from parsers.intake.column_rows import read_rows
from parsers.intake.evidence import Intake, NamedCases, Skipped, number
from parsers.intake.plain_text import BOM, text_of
from parsers.intake.python_modules import Modules
from parsers.intake.recognise import recognise
from parsers.intake.vllm_parsers import parser_of
from parsers.replays.chunking import DEFAULT_COMPARED, RECORDED
from parsers.search.sweep import json_of

_FAMILIES = {  # of Dynamo, whose names no server of another project has
    "deepseek_v3_1": "deepseek_v31",
    "deepseek_v3_2": "deepseek_v32",
    "gpt_oss": "harmony",
    "phi4": "phi4_mini_json",
}
_NO_SAMPLES = Intake(kind="not_text", title="Python without samples", advice="Give a file that makes samples.")
_AS_SENT = [json_of(one) for one in (RECORDED, *DEFAULT_COMPARED)]
_NOTHING = Intake(kind="not_text", title="no rows", advice="Give JSON Lines, or one list of JSON objects.")


def suite_in(
    data: bytes,
    *,
    filename: str | None = None,
    columns: Mapping[str, str] | None = None,
    modules: Modules | None = None,
) -> Intake:
    """The cases of a file: `cases` has their JSON text by name, and is empty where there are none (`message` says why).

    `columns` says that it is rows, and which columns they have. `modules` gives the text of what Python imports.
    """
    if columns:
        return _rows(data, columns) or _NOTHING
    found = recognise(data, pasted=False, filename=filename, modules=modules)
    if (filename or "").endswith(".py") and not found.cases and not found.skipped:
        return _NO_SAMPLES  # what code quotes is no sample
    if found.kind == "raw_text":
        rows = _rows(data, {})
        return rows if rows is not None and rows.cases else found
    return with_cases(found) if found.outputs else found


def _rows(data: bytes, columns: Mapping[str, str]) -> Intake | None:
    read = text_of(data, pasted=False)
    return read if isinstance(read, Intake) else read_rows(read[0].removeprefix(BOM), columns)


def with_cases(found: Intake) -> Intake:
    """Recorded outputs as cases by their labels, read by the parser of their family; one that takes a tokenizer is
    skipped."""
    cases, skipped = NamedCases(), [*found.skipped]
    parser = parser_of(_FAMILIES.get(found.family, found.family))
    for at, output in enumerate(found.outputs, 1):
        label = output.label or f"output {at}"
        try:
            replay = {} if output.deltas is None else {"replay": _AS_SENT}
            case = load_case({**case_data(output, parser=parser).data, "title": label, **replay})
            cases.add(label, dumps(case), at)
        except (RecordingError, CaseError) as error:
            skipped.append(Skipped(output.line or at, f"{label}: {error}"))
    title = f"{found.title}, {number(len(cases), 'case')}"
    return replace(found, kind="corpus", title=title, cases=cases, outputs=(), skipped=tuple(sorted(skipped)))
