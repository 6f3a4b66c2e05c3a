"""The index of substrings: which cases can hold a text, for texts of one character and more, on both databases.

Strategy
    Of each text, the set of its runs of one, two and three characters (grams) is indexed, each as a 32-bit number. A
    text that is looked for has grams too, and only what has all of them can hold it; that it does is then seen in the
    text itself. So every substring is found exactly, markup and white space included, and none of one or two characters
    needs a scan.

    ==========  ======================================================================================================
    SQLite      an FTS5 table without content whose words are the numbers in hexadecimal; `detail=none`: sets, no places
    PostgreSQL  an `INTEGER[]` column with a GIN index, both built in; the arrays are kept beside the rows, which stay
                short, for a search reads rows by the thousand and no array (migration 0012)
    ==========  ======================================================================================================

Why not the trigram indexes that exist: FTS5's `trigram` finds nothing shorter than three characters; PostgreSQL's
`pg_trgm` neither, takes letters and digits only (`</` is white space to it), and is an extension, which the user of a
database often may not create.

FTS5 takes a text out by a mark beside it: no search finds it, but its grams are in the file until the index is
rewritten, and they tell most of a short text. To rewrite all of it takes as long as it is large (a quarter of a second
for 4,000 cases), so that is done in parts, each a short transaction (`rewrite`), and what is taken out meanwhile waits
for the next time. FTS5 could overwrite grams where they are (`secure-delete`), but only in SQLite 3.42 and later, and
no earlier one can read the file then.

Cost: a gram for each distinct run, so at most three a character, and in long outputs far fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any
from zlib import crc32

from sqlalchemy import (
    Column,
    Connection,
    Dialect,
    FromClause,
    bindparam,
    column,
    literal_column,
    select,
    table,
    text,
    update,
)
from sqlalchemy.sql.elements import ColumnElement

from webapp.store.schema import rewriting

LONGEST = 3
PAGES = 256  # of the index, of 4,000 bytes, that are rewritten at once: less than a tenth of a second
_CHANGES = 2  # rows that a command changes which has something to do: it is a row itself
MOST_ASKED = 48  # grams of a text that is looked for: more of them rule out next to nothing

_UNKEPT = str.maketrans({"\0": "\ufffd"}) | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def kept(words: str) -> str:
    """The text as it is looked through: PostgreSQL keeps neither NUL nor half of a surrogate pair."""
    return words.translate(_UNKEPT)


def grams(words: str, shortest: int = 1) -> set[int]:
    """The numbers of all runs of `shortest` to LONGEST characters: signed, 32 bits."""
    runs = {words[at : at + size] for size in range(shortest, LONGEST + 1) for at in range(len(words) - size + 1)}
    return {_number(run) for run in runs}


def asked(words: str) -> list[int]:
    """The grams that a text must have which holds `words`: the longest it has, evenly over it where there are many."""
    found = sorted(grams(words, min(LONGEST, len(words))))
    return found[:: -(-len(found) // MOST_ASKED)] if found else []


def _number(run: str) -> int:
    value = crc32(run.encode("utf-8"))
    return value - (1 << 32) if value >> 31 else value


def _words(numbers: Iterable[int]) -> str:
    """The numbers as words of FTS5, whose order never matters."""
    return " ".join([f"{number & 0xFFFFFFFF:x}" for number in numbers])


class Grams:
    """The statements about the index, in the words of one database."""

    def __init__(self, dialect: Dialect) -> None:
        self._sqlite = dialect.name == "sqlite"

    def found(self, texts: Sequence[str]) -> tuple[FromClause, ColumnElement[int], list[ColumnElement[bool]]]:
        """Where the cases come from that can hold all of some texts: a table, its column of numbers, and conditions.

        PostgreSQL works the numbers out first, by the index, then sorts them, newest first, and OFFSET 0 keeps its
        planner from doing otherwise: a page then ends where it is full, instead of a look into the text of whatever has
        the grams.
        """
        numbers = sorted({number for words in texts for number in asked(words)})
        if self._sqlite:
            found = table("listed_grams", column("rowid")).alias("found")
            match = text("found.listed_grams MATCH :asked").bindparams(bindparam("asked", _words(numbers), unique=True))
            return found, found.c.rowid, [match]  # type: ignore[list-item]
        grams, has = table("listed_grams", column("number")), text("grams @> CAST(:asked AS INTEGER[])")
        query = select(grams.c.number).where(has.bindparams(bindparam("asked", numbers, unique=True)))
        indexed = query.offset(0).subquery("indexed")
        newest = select(indexed.c.number).order_by(indexed.c.number.desc()).offset(0).subquery("found")
        return newest, newest.c.number, []

    def search(self, connection: Connection) -> None:
        """Make ready to search by texts, in a transaction of its own. PostgreSQL knows not what it costs to fetch an
        array from beside its row: for common grams it would read all that there are, instead of asking the index."""
        if not self._sqlite:
            connection.execute(text("SET LOCAL enable_seqscan = off"))

    def beside(self, one: Column[str]) -> ColumnElement[str]:
        """A column for a condition on what the index found. With `+` before it SQLite looks for nothing by the column's
        own index: it would ask FTS5 anew for each row of that, which takes a third of a millisecond."""
        return literal_column(f"+{one.table}.{one.name}", one.type) if self._sqlite else one

    def add(self, connection: Connection, rows: Iterable[tuple[int, str]]) -> None:
        """Index texts by the numbers of their cases."""
        name = "rowid" if self._sqlite else "number"
        statement = text(f"INSERT INTO listed_grams ({name}, grams) VALUES (:number, :grams)")  # noqa: S608 - ours
        many = iter(rows)
        while batch := [{"number": number, "grams": self._written(words)} for number, words in islice(many, 500)]:
            connection.execute(statement, batch)

    @contextmanager
    def unindexed(self, connection: Connection) -> Iterator[None]:
        """Add many texts inside: PostgreSQL makes its index of all of them at once, at the end: the more there are, the
        more that saves. Nobody searches by it until the transaction ends."""
        if self._sqlite:
            yield
            return
        connection.execute(text("DROP INDEX listed_grams_grams"))
        yield
        connection.execute(text("SET LOCAL maintenance_work_mem = '256MB'"))
        made = "CREATE INDEX listed_grams_grams ON listed_grams USING gin (grams) WITH (fastupdate = off)"
        connection.execute(text(made))

    def remove(self, connection: Connection, number: int, words: str) -> None:
        """Take a text out of the index. What SQLite's keeps of it goes when that is rewritten."""
        if not self._sqlite:
            connection.execute(text("DELETE FROM listed_grams WHERE number = :number"), {"number": number})
        else:
            delete = "INSERT INTO listed_grams (listed_grams, rowid, grams) VALUES ('delete', :number, :grams)"
            connection.execute(text(delete), {"number": number, "grams": self._written(words)})
            connection.execute(update(rewriting).values(removed=rewriting.c.removed + 1))

    def is_clean(self, connection: Connection) -> bool:
        """Return whether the index keeps nothing of what was taken out."""
        clean = select(rewriting.c.removed == rewriting.c.done)
        return not self._sqlite or bool(connection.execute(clean).scalar_one())

    def rewrite(self, connection: Connection) -> None:
        """Rewrite the next part of SQLite's index without what was taken out of it, in a transaction that writes.

        To merge is to rewrite: a negative number of pages begins to make one segment of all that there are by then, a
        positive one goes on with that. It is done when nothing changes (sqlite.org/fts5.html, the 'merge' command).
        """
        row = connection.execute(select(rewriting)).one()
        begins = row.begun == row.done
        raw: Any = connection.connection.driver_connection
        before = raw.total_changes
        merge = text("INSERT INTO listed_grams (listed_grams, rank) VALUES ('merge', :pages)")
        connection.execute(merge, {"pages": -PAGES if begins else PAGES})
        begun = row.removed if begins else row.begun
        is_done = raw.total_changes - before < _CHANGES
        connection.execute(update(rewriting).values(begun=begun, done=begun if is_done else row.done))

    def _written(self, words: str) -> Any:
        found = grams(words)
        return _words(found) if self._sqlite else sorted(found)
