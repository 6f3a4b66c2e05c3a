"""The form of the examples: for every check one replay on which it finds something and one on which it holds.

Examples are written with `parsers.checks.script`, listed in `parsers.checks.examples`, shown by docs/checks.md and run
by a test.
"""

from __future__ import annotations

from dataclasses import dataclass

from parsers.checks.check import Subject


@dataclass(slots=True, frozen=True)
class Example:
    """`check` says `says` first on the subject `finds`, and nothing worse than a note on `holds`."""

    check: str
    finds: Subject
    says: str
    holds: Subject
