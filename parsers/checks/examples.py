"""An example for every check. The checks of changed outputs have theirs in `examples_variants`."""

from __future__ import annotations

from parsers.checks.example import Example
from parsers.checks.examples_calls import CALLS
from parsers.checks.examples_replays import REPLAYS
from parsers.checks.examples_text import TEXTS
from parsers.checks.examples_variants import VARIANTS

EXAMPLES: dict[str, Example] = {example.check: example for example in (*REPLAYS, *TEXTS, *CALLS, *VARIANTS)}
