"""How long a case is shared: chosen by whoever shares it, from a day to for ever."""

from __future__ import annotations

from datetime import datetime, timedelta

from parsers.vocabulary.types import UsageError

NEVER = "never"
DAYS = {"day": 1, "week": 7, "month": 30}
CHOICES = (*DAYS, NEVER)


def expiry(choice: str, now: str) -> str | None:
    """When what is shared now ends, both as `CaseStore.now` writes times; None for never. Raises UsageError."""
    if choice in ("", NEVER):
        return None
    if choice not in DAYS:
        raise UsageError(f"expires={choice[:40]} is not known: ask for one of {', '.join(CHOICES)}")
    later = datetime.fromisoformat(now) + timedelta(days=DAYS[choice])
    return later.isoformat(timespec="milliseconds").replace("+00:00", "Z")
