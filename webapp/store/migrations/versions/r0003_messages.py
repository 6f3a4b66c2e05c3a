"""The message that came out when a case was saved, and answers that are given again to whoever repeats a request.

Of cases that were stored before the message is not known.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, without a value, and the table."""
    op.add_column(
        "cases",
        sa.Column("message", sa.Text, nullable=True, comment="JSON of the message when it was saved; NULL: not known"),
    )
    op.create_table(
        "answered",
        sa.Column("key", sa.String(64), primary_key=True, comment="SHA-256 of Idempotency-Key, hexadecimal"),
        sa.Column("request", sa.String(64), nullable=False, comment="SHA-256 of the request, hexadecimal"),
        sa.Column("salt", sa.String(32), nullable=False, comment="of the delete key that comes of it"),
        sa.Column("status", sa.Integer, nullable=False, comment="of the answer; 0 while somebody works on it"),
        sa.Column("body", sa.Text, nullable=False, comment="JSON of the answer, without a delete key"),
        sa.Column("location", sa.Text, nullable=False, comment="its header, or empty"),
        sa.Column("created", sa.String(24), nullable=False, comment="UTC, ISO 8601 with milliseconds"),
    )
    op.create_index("answered_created", "answered", ["created"])


def downgrade() -> None:
    """Drop both; the cases stay."""
    op.drop_table("answered")
    op.drop_column("cases", "message")
