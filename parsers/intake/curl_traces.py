"""What `curl --trace` and `--trace-ascii` wrote: every byte of a visit, in dumps with a time each (`--trace-time`).

The data that came is put together again, without the transfer's own chunks (RFC 9112, section 7.1), and read like any
other log, each line stamped with the time of the dump in which it ended. The readable form has a dot for every byte
that is no visible ASCII: the line ends that events need are restored, and other runs of dots are told as lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from parsers.intake.evidence import Intake, Warn, number
from parsers.intake.requests import is_request, request_of
from parsers.intake.written_values import whole_object
from parsers.vocabulary.types import Request

_HEAD = re.compile(
    r"(?:(\d\d:\d\d:\d\d\.\d{6}) )?(?:== Info: |(?:<=|=>) (Recv|Send) (data|header|SSL data), (\d{1,9}) bytes)"
)
_ROW = re.compile(r"([0-9a-f]{4,8}): (.*)")
# The bytes of a row, before room for those that the last row has less, and what of them is visible.
_HEX = re.compile(r"(?:[0-9a-f]{2}(?: |$)){1,16}")
_ROOM = 48
_SIZE = re.compile(rb"([0-9a-fA-F]{1,7})(?:;[^\r\n]*)?\r\n")
# Dots of the readable form that end lines: before the next field of an event stream, and at the end.
_ENDS = re.compile(rb"(?<!\.)\.++(?=data: ?[\[{]|event: ?\w|: ping|\Z)")
_LOSSY = Warn("lossy_text", "`--trace-ascii` has a dot for every byte that is no ASCII: `--trace` keeps all of them.")


_Piece = tuple[str, bytes]  # a part of what came, after the stamp of the dump in which it ended


@dataclass(slots=True)
class _Dump:
    """One dump: its time stamp, whether it came or went, what it is of and how much, and its rows with their places."""

    stamp: str
    came: bool
    of: str
    size: int
    rows: list[tuple[int, str]] = field(default_factory=list)

    def data(self, *, readable: bool) -> bytes:
        """The bytes. In the readable form a row ends where a line did: CR and LF are there by their places alone."""
        if not readable:
            found = [_HEX.match(row) for _, row in self.rows]
            return b"".join([bytes.fromhex(one[0]) for one in found if one])
        data = bytearray()
        for at, row in self.rows:
            data += _ends(at - len(data)) + row.encode()
        return bytes(data + _ends(self.size - len(data)))


def _ends(room: int) -> bytes:
    """The line ends that the readable form left out before a place.

    One behind each row, and one more where an editor took the blank that an empty line's row ends with. Whatever a
    place says, they are no more.
    """
    return b"\r\n" * min(room // 2, 2)


@dataclass(slots=True)
class _Visit:
    """One request with its answer: curl makes several where it is redirected or tries again."""

    sent: list[bytes] = field(default_factory=list)
    came: list[_Piece] = field(default_factory=list)


def curl_trace(body: str, read: Callable[[str], Intake | None]) -> Intake | None:
    """Read what came in a trace as a log; None where there is no trace, or `read` finds no log in it.

    Of several answers the last that is a log counts: those before it are redirects, and errors before another try.
    """
    if "<= Recv data, " not in body:
        return None
    dumps = list(_dumps(body))
    readable = not _is_hexadecimal([row for dump in dumps if dump.of == "data" for _, row in dump.rows])
    visits = list(_visits(dumps, readable=readable))
    for last in range(len(visits), 0, -1):
        if found := _answer(visits[last - 1], read, readable=readable):
            found.request = _request(visits[:last])
            found.why = ("It is a trace of curl: what came is put together from its dumps.", *found.why)
            found.warnings += tuple(_left_out(sum([bool(one.came) for one in visits]) - 1))
            return found
    return None


def _dumps(body: str) -> Iterator[_Dump]:
    """The dumps, those of curl's own lines too, which are of nothing."""
    dump = _Dump("", came=False, of="", size=0)
    for line in body.split("\n"):
        head, row = _HEAD.match(line), _ROW.match(line)
        if head:
            yield dump
            dump = _Dump(head[1] or "", came=head[2] == "Recv", of=head[3] or "", size=int(head[4] or 0))
        elif row:
            dump.rows.append((int(row[1], 16), row[2]))
    yield dump


def _is_hexadecimal(rows: Sequence[str]) -> bool:
    """Whether every row has bytes in hexadecimal alone; the last may break off, as the paste does."""
    found = [_HEX.match(row) for row in (rows[:-1] or rows)]
    return all(one and not one.string[one.end() : _ROOM].strip() for one in found)


def _visits(dumps: Sequence[_Dump], *, readable: bool) -> Iterator[_Visit]:
    """The visits: a header that follows data that came begins the next."""
    visit = _Visit()
    for dump in dumps:
        if dump.of == "header" and visit.came:
            yield visit
            visit = _Visit()
        elif dump.of == "data" and dump.came:
            visit.came.append((dump.stamp, dump.data(readable=readable)))
        elif dump.of == "data":
            visit.sent.append(dump.data(readable=readable))
    yield visit


def _answer(visit: _Visit, read: Callable[[str], Intake | None], *, readable: bool) -> Intake | None:
    """The log that came with a visit."""
    pieces, left = _without_framing(visit.came)
    if readable:
        pieces = [(stamp, _ENDS.sub(lambda dots: b"\n" * len(dots[0]), data)) for stamp, data in pieces]
    found = read("\n".join(_stamped(pieces))) or read(_text([data for _, data in pieces]))
    if found is not None and left:
        words = f"{number(left, 'byte')} behind the last whole chunk of the transfer left out."
        found.warnings += (Warn("other_text", words),)
    if found is not None and readable and any(b".." in data for _, data in pieces):
        found.warnings += (_LOSSY,)
    return found


def _request(visits: Sequence[_Visit]) -> Request | None:
    """What was asked for: a redirect may be followed without the body."""
    sent = [whole_object(_text(visit.sent)) for visit in reversed(visits)]
    return next((request_of(one) for one in sent if one is not None and is_request(one)), None)


def _left_out(answers: int) -> Iterator[Warn]:
    if answers:
        yield Warn("other_recordings", f"{number(answers, 'more answer')} in the trace left out: the last log is read.")


def _without_framing(came: list[_Piece]) -> tuple[list[_Piece], int]:
    """What came without the sizes of the transfer's chunks, and how many bytes are left over behind them."""
    whole = b"".join([data for _, data in came])
    if not _SIZE.match(whole):
        return came, 0
    stamps = [stamp for stamp, data in came for _ in data]
    found, at = list[_Piece](), 0
    while (size := _SIZE.match(whole, at)) and (length := int(size[1], 16)):
        end = min(size.end() + length, len(whole))
        found.append((stamps[end - 1], whole[size.end() : end]))
        at = end + 2
    return found, len(whole[size.end() if size else at :].strip(b"\r\n"))


def _stamped(pieces: Sequence[_Piece]) -> Iterator[str]:
    """The lines of what came, each after the stamp of the part that it ended in."""
    open_line = b""
    for stamp, data in pieces:
        *ended, rest = data.split(b"\n")
        for line in ended:
            yield f"{stamp} {_text([open_line, line])}".lstrip(" ")
            open_line = b""
        open_line += rest
    yield _text([open_line])


def _text(parts: Sequence[bytes]) -> str:
    return b"".join(parts).decode("utf-8", "replace")
