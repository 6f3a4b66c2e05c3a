"""The tables as SQLAlchemy Core sees them. Migrations build them; a test holds the two together.

Portable on purpose: JSON is text, times are UTC ISO 8601 text, nothing needs a dialect's own types. The one exception
is the index of substrings, which `webapp.store.grams` knows alone.

A case is in the library if, and only if, it has a row in `listed`: what searches, counts or draws reads that table and
never `cases`, so a case that its sharer did not list cannot turn up by a forgotten condition.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, MetaData, String, Table, Text, false

ID_LENGTH = 16

metadata = MetaData()

cases = Table(
    "cases",
    metadata,
    Column("id", String(ID_LENGTH), primary_key=True, comment="content hash; names the permalink for ever"),
    Column("body", Text, nullable=False, comment="canonical JSON of the whole case; empty once deleted"),
    Column("outcome_digest", String(128), nullable=False, comment="digest of the result when it was saved"),
    Column("version", String(64), nullable=False, comment="version of the inspector that saved it"),
    Column("created", String(24), nullable=False, comment="UTC, ISO 8601 with milliseconds"),
    Column("deleted", String(24), nullable=True, comment="UTC time of deletion; NULL while readable"),
    Column("message", Text, nullable=True, comment="JSON of the message when it was saved; NULL: not known"),
    Column("size", Integer, nullable=False, server_default="0", comment="bytes of body and message; 0 once deleted"),
    Column("ended", String(16), nullable=True, comment="deleted, expired or taken down; NULL while readable"),
    Column("been_listed", Boolean, nullable=False, server_default=false(), comment="in the library, now or before"),
)

shares = Table(
    "shares",
    metadata,
    Column("case_id", String(ID_LENGTH), ForeignKey("cases.id"), primary_key=True),
    Column("key_hash", String(64), primary_key=True, comment="SHA-256 of the delete key, hexadecimal"),
    Column("created", String(24), nullable=False, comment="UTC, ISO 8601 with milliseconds"),
    Column("words", Boolean, nullable=False, comment="title, notes and flags of the case are theirs"),
    Column("listed", Boolean, nullable=False, comment="they put it into the library"),
    Column("expires", String(24), nullable=True, comment="UTC, ISO 8601 with milliseconds; NULL: never"),
    Index("shares_expires", "expires"),
)

listed = Table(
    "listed",
    metadata,
    Column("number", Integer, primary_key=True, comment="the order in which cases were listed"),
    Column("case_id", String(ID_LENGTH), ForeignKey("cases.id"), nullable=False, unique=True),
    Column("title", Text, nullable=False, comment="as in the case; empty where it has none"),
    Column("parser", Text, nullable=False, comment="the parser that read it when it was saved"),
    Column("engine", Text, nullable=False, comment="what ran that parser"),
    Column("verdict", String(64), nullable=False, comment="kind of verdict when it was saved"),
    Column("severity", String(16), nullable=False, comment="how bad that is: error, warning, info, pass"),
    Column("created", String(24), nullable=False, comment="UTC, ISO 8601 with milliseconds"),
    Column("text", Text, nullable=False, comment="title and output text, for exact substrings"),
    Column("band", Text, nullable=False, comment="JSON: what the output became, as [role, left, width] in percent"),
    Index("listed_parser", "parser", "number"),
    Index("listed_engine", "engine", "number"),
    Column("expires", String(24), nullable=True, comment="UTC, ISO 8601 with milliseconds; NULL: never"),
    Index("listed_verdict", "verdict", "number"),
    Index("listed_expires", "expires"),
    sqlite_autoincrement=True,
)

labels = Table(
    "listed_labels",
    metadata,
    Column("kind", String(8), primary_key=True, comment="tag or check"),
    Column("value", String(200), primary_key=True),
    Column("number", Integer, ForeignKey("listed.number", ondelete="CASCADE"), primary_key=True),
    Index("listed_labels_number", "number"),
)

collections = Table(
    "collections",
    metadata,
    Column("id", String(ID_LENGTH), primary_key=True, comment="random; names the permalink"),
    Column("title", Text, nullable=False),
    Column("created", String(24), nullable=False, comment="UTC, ISO 8601 with milliseconds"),
    Column("delete_key_hash", String(64), nullable=False, comment="SHA-256 of the delete key, hexadecimal"),
)

collected = Table(
    "collected",
    metadata,
    Column("collection", String(ID_LENGTH), ForeignKey("collections.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, ForeignKey("listed.number", ondelete="CASCADE"), primary_key=True),
    Index("collected_number", "number"),
)

tried = Table(
    "tried",
    metadata,
    Column("engine", String(200), primary_key=True, comment="the engine as it is entered; builtin is ours"),
    Column("version", String(64), primary_key=True, comment="what it said of itself, or our version"),
    Column("number", Integer, ForeignKey("listed.number", ondelete="CASCADE"), primary_key=True),
    Column("words", String(32), nullable=False, comment="what came of it, in a word"),
    Column("severity", String(16), nullable=False),
    Column("detail", Text, nullable=False, comment="what was found first; empty where nothing was"),
    Column("created", String(24), nullable=False, comment="UTC, ISO 8601 with milliseconds"),
    Index("tried_number", "number"),
)

tried_counts = Table(
    "tried_counts",
    metadata,
    Column("number", Integer, primary_key=True, comment="of this change"),
    Column("engine", String(200), nullable=False),
    Column("version", String(64), nullable=False),
    Column("severity", String(16), nullable=False),
    Column("many", Integer, nullable=False, comment="results more, or less than 0: fewer"),
    Column("last", String(24), nullable=False, comment="when the last of them came; empty: none did"),
    sqlite_autoincrement=True,
)

facet_counts = Table(
    "facet_counts",
    metadata,
    Column("number", Integer, primary_key=True, comment="of this change"),
    Column("facet", String(8), nullable=False, comment="verdict, parser, engine, tag or check"),
    Column("value", Text, nullable=False),
    Column("many", Integer, nullable=False, comment="listed cases more, or less than 0: fewer"),
    sqlite_autoincrement=True,
)

answered = Table(
    "answered",
    metadata,
    Column("key", String(64), primary_key=True, comment="SHA-256 of Idempotency-Key and of whose it is, hexadecimal"),
    Column("request", String(64), nullable=False, comment="SHA-256 of the request, hexadecimal"),
    Column("salt", String(32), nullable=False, comment="of the delete key that comes of it"),
    Column("status", Integer, nullable=False, comment="of the answer; 0 while somebody works on it"),
    Column("body", Text, nullable=False, comment="JSON of the answer, without a delete key"),
    Column("location", Text, nullable=False, comment="its header, or empty"),
    Column("created", String(24), nullable=False, comment="UTC, ISO 8601 with milliseconds"),
    Index("answered_created", "created"),
)

days = Table(
    "days",
    metadata,
    Column("day", String(10), primary_key=True, comment="UTC, ISO 8601; only the last one is kept"),
    Column("salt", String(64), nullable=False, comment="of the digests of clients on that day"),
)

spent = Table(
    "spent",
    metadata,
    Column("day", String(10), primary_key=True, comment="UTC, ISO 8601; only the last one is kept"),
    Column("client", String(16), primary_key=True, comment="digest of whose requests they were, with the salt"),
    Column("cases", Integer, nullable=False, comment="that were stored, and collections"),
    Column("bytes", BigInteger, nullable=False, comment="of these cases"),
    Column("uploads", Integer, nullable=False, comment="of tokenizers, and downloads from the hub"),
)

bans = Table(
    "bans",
    metadata,
    Column("client", String(64), primary_key=True, comment="digest of a client, or SHA-256 of a secret"),
    Column("day", String(10), nullable=False, comment="UTC, ISO 8601: the ban ends with it; empty: never"),
)

totals = Table(
    "totals",
    metadata,
    Column("number", Integer, primary_key=True, comment="1"),
    Column("cases", Integer, nullable=False, comment="that can be read"),
    Column("bytes", BigInteger, nullable=False, comment="of these cases"),
)

rewriting = Table(
    "rewriting",
    metadata,
    Column("number", Integer, primary_key=True, comment="1"),
    Column("removed", Integer, nullable=False, comment="texts taken out of the index so far"),
    Column("begun", Integer, nullable=False, comment="of these when the last rewriting began"),
    Column("done", Integer, nullable=False, comment="of these when the last one began that is done"),
)

# What is of a day only, or counted from other rows: no backup holds it.
PASSING = frozenset((days, spent, totals, tried_counts, facet_counts, rewriting))
