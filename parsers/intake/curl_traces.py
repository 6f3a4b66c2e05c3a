"""What `curl --trace` and `--trace-ascii` wrote: every byte of a visit, in dumps with a time each (`--trace-time`).

The data that came is put together again, without the transfer's own chunks (RFC 9112, section 7.1), and read like any
other log, each line stamped with the time of the dump in which it ended. The readable form has a dot for every byte
that is no visible ASCII: the line ends that events need are restored, and other runs of dots are told as lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from parsers.intake.evidence import Intake, Warn
from parsers.intake.requests import is_request, request_of
from parsers.intake.written_values import whole_object

_HEAD = re.compile(
    r"(?:(\d\d:\d\d:\d\d\.\d{6}) )?(?:== Info: |(?:<=|=>) (Recv|Send) (data|header|SSL data), (\d{1,9}) bytes)"
)
_ROW = re.compile(r"([0-9a-f]{4,8}): (.*)")
_HEX = re.compile(r"(?:[0-9a-f]{2} ){1,16}")
_SIZE = re.compile(rb"([0-9a-fA-F]{1,7})(?:;[^\r\n]*)?\r\n")
# A dot of the readable form that ends a line: before the next field of an event stream, and at the end.
_ENDS = re.compile(rb"\.(?=\.*(?:data: ?[\[{]|event: ?\w|: ping|\Z))")
_LOSSY = Warn("lossy_text", "`--trace-ascii` has a dot for every byte that is no ASCII: `--trace` keeps all of them.")


@dataclass(slots=True)
class _Dump:
    """One dump: its time stamp, whether it came or went, whether it is data and how much, and its bytes.

    In the readable form a row ends where a line of the data did, so that CR and LF are there by their places alone.
    """

    stamp: str
    came: bool
    is_data: bool
    size: int
    data: bytearray = field(default_factory=bytearray)

    def fill(self, size: int) -> None:
        """Put the line ends that the readable form left out before this place."""
        self.data += b"\r\n" * ((size - len(self.data)) // 2)


def curl_trace(body: str, read: Callable[[str], Intake | None]) -> Intake | None:
    """Read what came in a trace as a log; None where there is no trace, or `read` finds no log in it."""
    if "<= Recv data, " not in body:
        return None
    readable = not any(_HEX.match(row[2]) for row in map(_ROW.match, body.split("\n")) if row)
    dumps = list(_dumps(body, readable=readable))
    pieces = _without_framing([dump for dump in dumps if dump.came])
    if readable:
        pieces = [(stamp, _ENDS.sub(b"\n", data)) for stamp, data in pieces]
    found = read("\n".join(_stamped(pieces))) or read(_text([data for _, data in pieces]))
    if found is None:
        return None
    sent = whole_object(_text([dump.data for dump in dumps if not dump.came]))
    found.request = request_of(sent) if sent is not None and is_request(sent) else None
    found.why = ("It is a trace of curl: what came is put together from its dumps.", *found.why)
    if readable and any(b".." in data for _, data in pieces):
        found.warnings += (_LOSSY,)
    return found


def _dumps(body: str, *, readable: bool) -> Iterator[_Dump]:
    """The dumps of data."""
    dump = _Dump("", came=False, is_data=False, size=0)
    for line in [*body.split("\n"), "== Info: "]:
        head, row = _HEAD.match(line), _ROW.match(line)
        if head:
            dump.fill(dump.size if readable else 0)
            if dump.is_data:
                yield dump
            dump = _Dump(head[1] or "", came=head[2] == "Recv", is_data=head[3] == "data", size=int(head[4] or 0))
        elif row and dump.is_data:
            dump.fill(int(row[1], 16) if readable else 0)
            dump.data += row[2].encode() if readable else bytes.fromhex(row[2][:48])


def _without_framing(dumps: Sequence[_Dump]) -> list[tuple[str, bytes]]:
    """What came, each part with the stamp of the dump in which it ended, without the sizes of the transfer's chunks."""
    whole = b"".join([dump.data for dump in dumps])
    if not _SIZE.match(whole):
        return [(dump.stamp, bytes(dump.data)) for dump in dumps]
    stamps = [dump.stamp for dump in dumps for _ in dump.data]
    found, at = list[tuple[str, bytes]](), 0
    while (size := _SIZE.match(whole, at)) and (length := int(size[1], 16)):
        end = min(size.end() + length, len(whole))
        found.append((stamps[end - 1], whole[size.end() : end]))
        at = end + 2
    return found


def _stamped(pieces: Sequence[tuple[str, bytes]]) -> Iterator[str]:
    """The lines of what came, each after the stamp of the part that it ended in."""
    open_line = b""
    for stamp, data in pieces:
        *ended, rest = data.split(b"\n")
        for line in ended:
            yield f"{stamp} {_text([open_line, line])}".lstrip(" ")
            open_line = b""
        open_line += rest
    yield _text([open_line])


def _text(parts: Sequence[bytes | bytearray]) -> str:
    return b"".join(parts).decode("utf-8", "replace")
