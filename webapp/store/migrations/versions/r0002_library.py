"""The library: what is listed of the cases whose sharers said so, the index of substrings, collections, and results.

Cases that were stored before have no row in `listed`: nobody asked their sharers.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables of the library, all of them empty."""
    _create_listed()
    op.create_table(
        "listed_labels",
        sa.Column("kind", sa.String(8), primary_key=True, comment="tag or check"),
        sa.Column("value", sa.String(200), primary_key=True),
        sa.Column("number", sa.Integer, sa.ForeignKey("listed.number", ondelete="CASCADE"), primary_key=True),
    )
    op.create_index("listed_labels_number", "listed_labels", ["number"])
    _create_collections()
    op.create_table(
        "tried",
        sa.Column("engine", sa.String(200), primary_key=True, comment="the engine as it is entered; builtin is ours"),
        sa.Column("version", sa.String(64), primary_key=True, comment="what it said of itself, or our version"),
        sa.Column("number", sa.Integer, sa.ForeignKey("listed.number", ondelete="CASCADE"), primary_key=True),
        sa.Column("words", sa.String(32), nullable=False, comment="what came of it, in a word"),
        sa.Column("severity", sa.String(16), nullable=False),
        sa.Column("detail", sa.Text, nullable=False, comment="what was found first; empty where nothing was"),
        sa.Column("created", sa.String(24), nullable=False, comment="UTC, ISO 8601 with milliseconds"),
    )
    op.create_index("tried_number", "tried", ["number"])
    _create_grams()


def _create_listed() -> None:
    op.create_table(
        "listed",
        sa.Column("number", sa.Integer, primary_key=True, comment="the order in which cases were listed"),
        sa.Column("case_id", sa.String(16), sa.ForeignKey("cases.id"), nullable=False, unique=True),
        sa.Column("title", sa.Text, nullable=False, comment="as in the case; empty where it has none"),
        sa.Column("parser", sa.Text, nullable=False, comment="the parser that read it when it was saved"),
        sa.Column("engine", sa.Text, nullable=False, comment="what ran that parser"),
        sa.Column("verdict", sa.String(64), nullable=False, comment="kind of verdict when it was saved"),
        sa.Column("severity", sa.String(16), nullable=False, comment="how bad that is: error, warning, info, pass"),
        sa.Column("created", sa.String(24), nullable=False, comment="UTC, ISO 8601 with milliseconds"),
        sa.Column("text", sa.Text, nullable=False, comment="title and output text, for exact substrings"),
        sa.Column(
            "band", sa.Text, nullable=False, comment="JSON: what the output became, as [role, left, width] in percent"
        ),
        sqlite_autoincrement=True,
    )
    for name in ("parser", "engine", "verdict"):
        op.create_index(f"listed_{name}", "listed", [name, "number"])


def _create_collections() -> None:
    op.create_table(
        "collections",
        sa.Column("id", sa.String(16), primary_key=True, comment="random; names the permalink"),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("created", sa.String(24), nullable=False, comment="UTC, ISO 8601 with milliseconds"),
        sa.Column("delete_key_hash", sa.String(64), nullable=False, comment="SHA-256 of the delete key, hexadecimal"),
    )
    op.create_table(
        "collected",
        sa.Column("collection", sa.String(16), sa.ForeignKey("collections.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer, sa.ForeignKey("listed.number", ondelete="CASCADE"), primary_key=True),
    )
    op.create_index("collected_number", "collected", ["number"])


def _create_grams() -> None:
    """The index of substrings, in what each database has built in (`webapp.store.grams` says why)."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE listed_grams USING fts5"
            "(grams, content='', detail='none', columnsize=0, tokenize='ascii')"
        )
        return
    op.execute(
        "CREATE TABLE listed_grams (number INTEGER PRIMARY KEY REFERENCES listed (number) ON DELETE CASCADE,"
        " grams INTEGER[] NOT NULL) WITH (toast_tuple_target = 128)"  # no query reads the arrays: rows stay short
    )
    # Without a list of what waits to be indexed, which every search would read.
    op.execute("CREATE INDEX listed_grams_grams ON listed_grams USING gin (grams) WITH (fastupdate = off)")


def downgrade() -> None:
    """Drop the library; the cases stay, and their links with them."""
    for name in ("listed_grams", "tried", "collected", "collections", "listed_labels", "listed"):
        op.drop_table(name)
