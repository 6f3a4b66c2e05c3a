"""Request bodies arrive whole or not at all: this application shows bytes, so it may not change or lose any.

Two habits of Werkzeug 3.1 (seen in 3.1.9) stand in the way and are stepped around here:

* A chunked body over the limit is cut at the limit and passed off as the whole. Here it is read first, so that it
  has a length like any other, or is refused.
* The multipart parser reads 64 KiB at a time. Where such an edge falls into a boundary, the field before may gain a
  carriage return or swallow the next field (pallets/werkzeug issue 3285). Here it is given the body in one piece.
"""

from __future__ import annotations

import io
from typing import IO, TYPE_CHECKING

from flask import Request
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.exceptions import BadRequest
from werkzeug.formparser import FormDataParser, MultiPartParser

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

Parsed = tuple[IO[bytes], MultiDict[str, str], MultiDict[str, FileStorage]]


class OnePieceParser(FormDataParser):
    """Parses a multipart form from one buffer. A form that cannot be read is a 400, not an empty form."""

    def parse(
        self, stream: IO[bytes], mimetype: str, content_length: int | None, options: dict[str, str] | None = None
    ) -> Parsed:
        if mimetype != "multipart/form-data":
            return super().parse(stream, mimetype, content_length, options)
        body = stream.read()
        parser = MultiPartParser(
            stream_factory=self.stream_factory,
            max_form_memory_size=self.max_form_memory_size,
            max_form_parts=self.max_form_parts,
            cls=self.cls,
            buffer_size=len(body) + 1,
        )
        try:
            boundary = (options or {})["boundary"].encode("ascii")
            form, files = parser.parse(io.BytesIO(body), boundary, len(body))
        except (KeyError, ValueError) as error:
            raise BadRequest("The multipart form cannot be read.") from error
        return stream, form, files


class WholeRequest(Request):
    """A Flask request whose forms go through OnePieceParser."""

    form_data_parser_class = OnePieceParser


def measure_chunked(environ: WSGIEnvironment, limit: int) -> bool:
    """Read a chunked body up to `limit` bytes and give it a length. False: it is longer.

    Servers that leave the end of a chunked body unmarked are left alone: there Werkzeug reads nothing.
    """
    if "chunked" not in environ.get("HTTP_TRANSFER_ENCODING", "").lower() or "wsgi.input_terminated" not in environ:
        return True
    body = bytearray()
    while len(body) <= limit and (part := environ["wsgi.input"].read(65_536)):
        body += part
    if len(body) > limit:
        return False
    environ |= {"CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body)}
    del environ["HTTP_TRANSFER_ENCODING"]
    return True
