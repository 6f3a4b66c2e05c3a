"""Data and what describes it: tables, exports, manifests, queries, documents of tags.

People paste them as context, and models write them when they are asked to and say nothing else. Nothing in them tells
which, so none of these is sure, but definitions of tools are. Each is told by its form, from first line to last.
"""

from __future__ import annotations

import re

from parsers.search.pasted_kinds import Given, Pasted, Shape, always, having, never
from parsers.search.pasted_lines import is_sentence

_ROWS, _COLUMNS = 3, 3  # fewer are a list
_QUOTED_FIELD = re.compile(r'"(?:[^"]|"")*"')
_HEADING = re.compile(r"[A-Za-z_][\w ./()%-]{0,60}|Q")
_SEPARATORS = (",", ";", "\t")
# psql and MySQL.
_RULED = re.compile(r"\A(?:.{0,2000}\n ?)?[+-]?-{2,400}(?:[+|]-{1,400}){0,200}\+?[ \t]*\n")
_COUNTED = re.compile(r"^(?:\(\d{1,9} rows?\)|\d{1,9} rows? in set\b.*)\s*\Z", re.MULTILINE)
# Keys and certificates, calendars and cards, subtitles.
_ARMOURED = re.compile(r"\A\s*-----BEGIN ([A-Z0-9 ]{3,40})-----\n[\s\S]{0,100000}\n-----END \1-----\s*\Z")
_CALENDAR = re.compile(r"\A\s*BEGIN:(VCALENDAR|VCARD)\n[\s\S]{0,100000}\nEND:\1\s*\Z")
_SUBTITLES = re.compile(r"\A\s*(?:WEBVTT\b.{0,80}\n\s*)?(?:1\n)?\d\d:\d\d:\d\d[.,]\d{3} --> \d\d:\d\d:")
_TAGGED = re.compile(r"\s*<\?xml\s[^>\n]{0,200}\?>\s*<[!\w]")
# Keys of the outermost level that together tell a manifest: Kubernetes, OpenAPI, Compose, GitHub Actions, GitLab CI,
# conda, Ansible.
_MANIFESTS = (
    ({"apiVersion", "kind"}, ""), ({"openapi", "paths"}, ""), ({"swagger", "paths"}, ""), ({"services"}, "image:"),
    ({"services"}, "build:"), ({"on", "jobs"}, ""), ({"stages"}, "script:"), ({"channels", "dependencies"}, ""),
    ({"hosts", "tasks"}, ""),
)  # fmt: skip
_OUTER_KEY = re.compile(r"^(?:- )?[\"']?([A-Za-z$][\w.-]{0,60})[\"']?:(?:\s|$)|^ {2}(tasks):", re.MULTILINE)
_YAML = re.compile(r"^\s*(?:- )*[\"']?[\w./${}@<*~-][^:\n]{0,100}:(?:\s|$)|^\s*-(?:\s|$)|^\s*#|^-{3}$|^\s+\S|^\.{3}$")
# Definitions of tools in a program, as the value of a variable.
_ASSIGNED = re.compile(r"\A\s*(?:const |let |var |export )*\w{1,60}(?: ?: ?[\w\[\], .]{1,80})? ?= ?[\[{(]")
_DEFINED = re.compile(r"""["']?type["']? ?: ?["']function["']""")
_DESCRIBED = re.compile(r"""["']?(?:parameters|input_schema)["']? ?: ?\{\s*["']?type["']? ?: ?["']object["']""")
_VERBS = (
    r"SELECT|INSERT INTO|UPDATE \S+ SET|DELETE FROM|CREATE (?:OR REPLACE )?(?:TEMP )?(?:TABLE|INDEX|VIEW|UNIQUE)"
    r"|WITH (?:RECURSIVE )?\w+ AS|ALTER TABLE|DROP (?:TABLE|INDEX|VIEW)|EXPLAIN|BEGIN;|GRANT|TRUNCATE"
)
_QUERY = re.compile(rf"\A\s*(?:--.{{0,200}}\n\s*){{0,20}}(?:(?:{_VERBS})\b|(?i:{_VERBS})\b[^;]{{0,20000}};\s*\Z)")
_QUERY_LINE = re.compile(
    rf"^\s*(?:{_VERBS}|FROM|(?:LEFT |RIGHT |INNER |OUTER |FULL |CROSS )*JOIN|WHERE|AND|OR|GROUP BY|ORDER BY|HAVING"
    r"|LIMIT|OFFSET|UNION|VALUES|SET|ON|CASE|WHEN|ELSE|END|RETURNING|USING|WINDOW|PARTITION|COMMIT|ROLLBACK|AS|--"
    r"|[(),;*])"
    r"|^\s+\S|.{0,400};\s*$",
    re.IGNORECASE,
)


def _is_exported(given: Given) -> bool:
    """Return whether all lines are rows of as many fields, the first of which are names."""
    lines = given.lines
    return len(lines) >= _ROWS and any(_are_rows(lines, separator) for separator in _SEPARATORS)


def _are_rows(lines: list[str], separator: str) -> bool:
    names = _QUOTED_FIELD.sub("Q", lines[0].strip()).split(separator)
    if len(names) < _COLUMNS or not all(_HEADING.fullmatch(name) for name in names):
        return False
    rows = [_QUOTED_FIELD.sub("Q", line) for line in lines]
    spaced = any(f"{separator} " in row for row in rows)
    return not spaced and all(row.count(separator) == len(names) - 1 for row in rows)


def _is_tagged(given: Given) -> bool:
    return _TAGGED.match(given.text) is not None and given.text.rstrip().endswith(">")


def _is_manifest(given: Given) -> bool:
    outer = {inner or key for key, inner in _OUTER_KEY.findall(given.text)}
    told = any(keys <= outer and word in given.text for keys, word in _MANIFESTS)
    return told and given.are(_YAML) and not is_sentence(given.lines[-1])


def _is_query(given: Given) -> bool:
    told = given.lines[-1].rstrip().endswith((".", "!", "?", ":"))
    return _QUERY.match(given.text) is not None and given.are(_QUERY_LINE) and not told


def _is_tools_of_program(given: Given) -> bool:
    found = all(pattern.search(given.text) for pattern in (_ASSIGNED, _DEFINED, _DESCRIBED))
    return found and given.text.rstrip().rstrip(";").endswith(("]", "}", ")"))


DATA = (
    Shape(Pasted.TOOLS, _is_tools_of_program, always),
    Shape(Pasted.DATA, _is_exported, never),
    Shape(Pasted.DATA, having(_RULED, _COUNTED), never),
    Shape(Pasted.DATA, _is_tagged, never),
    Shape(Pasted.DATA, having(_ARMOURED), never),
    Shape(Pasted.DATA, having(_CALENDAR), never),
    Shape(Pasted.DATA, having(_SUBTITLES), never),
    Shape(Pasted.OPTIONS, _is_manifest, never),
    Shape(Pasted.SCRIPT, _is_query, never),
)
