"""Every sharer of a case has a key of their own, and a case says how it ended.

Who shared a case first has the key that it had, and what the case is called by; where it is listed, they did that.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make a share of each case that can be read, and drop its key."""
    op.create_table(
        "shares",
        sa.Column("case_id", sa.String(16), sa.ForeignKey("cases.id"), primary_key=True),
        sa.Column("key_hash", sa.String(64), primary_key=True, comment="SHA-256 of the delete key, hexadecimal"),
        sa.Column("created", sa.String(24), nullable=False, comment="UTC, ISO 8601 with milliseconds"),
        sa.Column("words", sa.Boolean, nullable=False, comment="title, notes and flags of the case are theirs"),
        sa.Column("listed", sa.Boolean, nullable=False, comment="they put it into the library"),
    )
    op.execute(
        "INSERT INTO shares (case_id, key_hash, created, words, listed) SELECT id, delete_key_hash, created, TRUE,"
        " EXISTS (SELECT 1 FROM listed WHERE listed.case_id = cases.id) FROM cases WHERE deleted IS NULL"
    )
    op.add_column(
        "cases",
        sa.Column("ended", sa.String(16), nullable=True, comment="deleted, expired or taken down; NULL while readable"),
    )
    op.execute(
        "UPDATE cases SET ended = CASE WHEN delete_key_hash = 'taken down' THEN 'taken down' ELSE 'deleted' END"
        " WHERE deleted IS NOT NULL"
    )
    op.drop_column("cases", "delete_key_hash")


def downgrade() -> None:
    """Leave each case the key of one who shared it."""
    op.add_column(
        "cases",
        sa.Column(
            "delete_key_hash",
            sa.String(64),
            nullable=False,
            server_default="",
            comment="SHA-256 of the delete key, hexadecimal",
        ),
    )
    op.execute(
        "UPDATE cases SET delete_key_hash = coalesce(CASE WHEN ended = 'taken down' THEN ended ELSE"
        " (SELECT max(key_hash) FROM shares WHERE case_id = id) END, '')"
    )
    op.drop_column("cases", "ended")
    op.drop_table("shares")
