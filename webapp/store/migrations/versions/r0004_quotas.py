"""How large cases are, how many there are in all, and what each client stored today.

The sizes of cases that are there are computed here, once.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_BYTES = {"sqlite": "length(CAST({0} AS BLOB))", "postgresql": "octet_length({0})"}


def upgrade() -> None:
    """Add the column and the tables, and count what is there."""
    op.add_column(
        "cases",
        sa.Column(
            "size", sa.Integer, nullable=False, server_default="0", comment="bytes of body and message; 0 once deleted"
        ),
    )
    size = _BYTES[op.get_bind().dialect.name]
    op.execute(
        f"UPDATE cases SET size = {size.format('body')} + coalesce({size.format('message')}, 0) WHERE deleted IS NULL"  # noqa: S608
    )
    _create_tables()
    op.execute(
        "INSERT INTO totals (number, cases, bytes)"
        " SELECT 1, count(*), coalesce(sum(size), 0) FROM cases WHERE deleted IS NULL"
    )


def _create_tables() -> None:
    op.create_table(
        "days",
        sa.Column("day", sa.String(10), primary_key=True, comment="UTC, ISO 8601; only the last one is kept"),
        sa.Column("salt", sa.String(64), nullable=False, comment="of the digests of clients on that day"),
    )
    op.create_table(
        "spent",
        sa.Column("day", sa.String(10), primary_key=True, comment="UTC, ISO 8601; only the last one is kept"),
        sa.Column(
            "client", sa.String(16), primary_key=True, comment="digest of whose requests they were, with the salt"
        ),
        sa.Column("cases", sa.Integer, nullable=False, comment="that were stored, and collections"),
        sa.Column("bytes", sa.BigInteger, nullable=False, comment="of these cases"),
        sa.Column("uploads", sa.Integer, nullable=False, comment="of tokenizers, and downloads from the hub"),
    )
    op.create_table(
        "totals",
        sa.Column("number", sa.Integer, primary_key=True, comment="1"),
        sa.Column("cases", sa.Integer, nullable=False, comment="that can be read"),
        sa.Column("bytes", sa.BigInteger, nullable=False, comment="of these cases"),
    )


def downgrade() -> None:
    """Drop what was counted; the cases stay."""
    for name in ("totals", "spent", "days"):
        op.drop_table(name)
    op.drop_column("cases", "size")
