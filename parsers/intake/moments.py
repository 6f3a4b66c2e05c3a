"""When the parts of a log came: time stamps before its lines and in its objects, as microseconds.

A stamp has one of three origins, and only stamps of one origin can be told apart in time: a date (or seconds since
1970), a time of day, or seconds since the recording began. Formats: ISO 8601 as `kubectl logs --timestamps`, Docker
and JSON loggers write it; `ts` of moreutils with its default format, `%H:%M:%.S`, `%.s` and `-s %.s`; curl's
`--trace-time`; syslog, whose date has no year and is left out. Where a log has none, what servers write into chunks
themselves is taken: Ollama's `created_at`, and `created` where it is not the same in all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import pairwise
from typing import Any, NamedTuple, TypeGuard

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_DATE = re.compile(
    r"(?<!\d)(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?(?!\d)"
)
_CLOCK = re.compile(r"(?<![\d:.])(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?![\d:])")
_EPOCH = re.compile(r"(?<![\w.:-])(1\d{9})(?:\.(\d{1,9}))?(?![\w.:-])")
_SINCE = re.compile(r"\s*[\[(]?\+?(\d{1,7})\.(\d{1,9}) ?s?[\])]?\s*")
_LEAD = re.compile(
    r"\s*(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?"
    r"|(?:[A-Z][a-z]{2} [ \d]\d )?\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?|\[?\+?\d{1,10}\.\d{1,9} ?s?\]?)(?= |\Z) ?"
)
_CURL = re.compile(r"\d\d:\d\d:\d\d\.\d{6} (?:[*<>{}] |==|=>|<=|[*<>{}]$)")
_KEYS = (
    "time", "timestamp", "@timestamp", "ts", "asctime", "datetime", "date", "created_at", "received_at", "arrived_at",
)  # fmt: skip
_SINCE_KEYS = {"elapsed_ms": 1_000, "offset_ms": 1_000, "t_ms": 1_000, "ms": 1_000, "elapsed": _SECOND, "t": _SECOND}
# What a number of seconds since 1970 is counted in, by how large it is.
_UNITS = ((10**17, 1_000), (10**14, 1), (10**11, 1_000), (10**8, _SECOND))


class _Origin(Enum):
    """What a time stamp counts from."""

    EPOCH = "1970"
    MIDNIGHT = "midnight"
    START = "the start of the recording"


class Moment(NamedTuple):
    """A time stamp: microseconds since its origin."""

    origin: _Origin
    micros: int


def moment_in(text: str) -> Moment | None:
    """Return the first time stamp of what stands before a log's payload; None where there is none."""
    if found := _DATE.search(text):
        days = _days(int(found[1]), int(found[2]), int(found[3]))
        return Moment(_Origin.EPOCH, days * _DAY + _clock(found, 4) - _zone(found[8]))
    if found := _CLOCK.search(text):
        return Moment(_Origin.MIDNIGHT, _clock(found, 1))
    if found := _EPOCH.search(text):
        return Moment(_Origin.EPOCH, int(found[1]) * _SECOND + _fraction(found[2]))
    if found := _SINCE.fullmatch(text):
        return Moment(_Origin.START, int(found[1]) * _SECOND + _fraction(found[2]))
    return None


def stamped(line: str) -> tuple[Moment | None, str]:
    """Return the time stamp that a line begins with and the rest of the line; (None, line) without one."""
    found = _LEAD.match(line)
    moment = moment_in(found[0]) if found else None
    return (moment, line[found.end() :]) if found and moment else (None, line)


def curl_moment(line: str) -> Moment | None:
    """Return the time of a line that `curl --trace-time` writes about the connection; None for any other."""
    return moment_in(line[:15]) if _CURL.match(line) else None


def moment_of(row: Mapping[str, Any]) -> Moment | None:
    """Return the time stamp of a JSON object of a log, under one of the usual keys."""
    for key in _KEYS:
        if (moment := _value_moment(row.get(key))) is not None:
            return moment
    for key, unit in _SINCE_KEYS.items():
        value = row.get(key)
        if _is_number(value) and 0 <= value < _UNITS[-1][0]:
            return Moment(_Origin.START, round(value * unit))
    return None


def _value_moment(value: Any) -> Moment | None:
    if isinstance(value, str):
        return moment_in(value[:40])
    if not _is_number(value):
        return None
    return next((Moment(_Origin.EPOCH, _micros(value, unit)) for least, unit in _UNITS if value >= least), None)


def _micros(value: float, unit: int) -> int:
    """A number since 1970 in microseconds; of nanoseconds (the first unit) a thousand are one."""
    return int(value) // unit if value >= _UNITS[0][0] else round(value * unit)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 10**20


def _clock(found: re.Match[str], first: int) -> int:
    hours, minutes, seconds = [int(found[group]) for group in range(first, first + 3)]
    return (hours * 3600 + minutes * 60 + seconds) * _SECOND + _fraction(found[first + 3])


def _fraction(digits: str | None) -> int:
    return int((digits or "0")[:6].ljust(6, "0"))


def _zone(text: str | None) -> int:
    """How far a zone is ahead of UTC."""
    if not text or text == "Z":
        return 0
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return (minutes if text[0] == "+" else -minutes) * 60 * _SECOND


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970 in the Gregorian calendar, counted in years that begin in March."""
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)
    return year * 365 + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day - 719_469


def arrivals(moments: Sequence[Moment | None]) -> tuple[float | None, ...] | None:
    """When chunks came, in milliseconds since the first whose time is known.

    None: fewer than two have a stamp of one origin, or the stamps run backwards. A time of day that falls back by more
    than half a day is of the next day.
    """
    origin = next((one.origin for one in moments if one is not None), None)
    known = [one.micros if one is not None and one.origin is origin else None for one in moments]
    if origin is _Origin.MIDNIGHT:
        known = _over_midnight(known)
    said = [micros for micros in known if micros is not None]
    if len(said) < 2 or any(later < earlier for earlier, later in pairwise(said)):
        return None
    return tuple([None if micros is None else _milliseconds(micros - said[0]) for micros in known])


def _over_midnight(known: Iterable[int | None]) -> list[int | None]:
    found, before, days = list[int | None](), 0, 0
    for micros in known:
        if micros is not None:
            days += before - micros > _DAY // 2
            before = micros
        found.append(None if micros is None else micros + days * _DAY)
    return found


def _milliseconds(micros: int) -> float:
    return micros // 1000 if micros % 1000 == 0 else micros / 1000


def made_at(payloads: Sequence[Mapping[str, Any]]) -> tuple[float | None, ...] | None:
    """When a server made its chunks, by the second that each names in `created`; None where all name the same."""
    seconds = [payload.get("created") for payload in payloads]
    moments = [
        Moment(_Origin.EPOCH, value * _SECOND) if type(value) is int and 0 < value < 10**11 else None
        for value in seconds
    ]
    return arrivals(moments) if len(set(moments) - {None}) > 1 else None
