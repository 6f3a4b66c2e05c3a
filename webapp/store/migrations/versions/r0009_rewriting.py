"""How much of SQLite's index of substrings is still to be rewritten without what was taken out: nothing at first.

Until now each removal rewrote all of it.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, with its one row."""
    op.create_table(
        "rewriting",
        sa.Column("number", sa.Integer, primary_key=True, comment="1"),
        sa.Column("removed", sa.Integer, nullable=False, comment="texts taken out of the index so far"),
        sa.Column("begun", sa.Integer, nullable=False, comment="of these when the last rewriting began"),
        sa.Column("done", sa.Integer, nullable=False, comment="of these when the last one began that is done"),
    )
    op.execute("INSERT INTO rewriting (number, removed, begun, done) VALUES (1, 0, 0, 0)")


def downgrade() -> None:
    """Drop it, and rewrite the index at once, as the version before expects it."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("INSERT INTO listed_grams (listed_grams) VALUES ('optimize')")
    op.drop_table("rewriting")
