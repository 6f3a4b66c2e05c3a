"""Static verification of a format: everything that can be found wrong with it without running it.

A format that pydantic accepts may still name states, terminals or codecs that do not exist, forget what happens at the
end, or leave a call open. `lint` says so, with a JSON pointer for the editor. An error means that some output is
read wrongly or not at all; a warning, that a part has no effect or a string cannot be said; an info is worth knowing.
"""

from __future__ import annotations

from parsers.formats.lint_flow import check_flow
from parsers.formats.lint_static import CHECKS, CodecFacts, Codecs, LintFinding
from parsers.formats.lint_strings import check_strings
from parsers.formats.model import Format

__all__ = ["CodecFacts", "LintFinding", "lint"]

ORDER = ("error", "warning", "info")


def lint(fmt: Format, codecs: Codecs | None = None) -> list[LintFinding]:
    """Every finding, errors first. Without `codecs` the built-in ones are known. Never raises on a valid Format."""
    if codecs is None:
        from parsers.arguments import CODECS  # here, so that formats can be read and drawn without the codecs

        codecs = CODECS
    found = [finding for check in CHECKS for finding in check(fmt, codecs)]
    found += [*check_flow(fmt, codecs), *check_strings(fmt, codecs)]
    return sorted(found, key=lambda finding: ORDER.index(finding.severity))
