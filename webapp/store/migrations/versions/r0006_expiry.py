"""Shares that end by themselves, and what the library shows no longer than they last."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_COMMENT = "UTC, ISO 8601 with milliseconds; NULL: never"


def upgrade() -> None:
    """Add both columns, without a value: what was shared before stays until it is deleted."""
    for name in ("shares", "listed"):
        op.add_column(name, sa.Column("expires", sa.String(24), nullable=True, comment=_COMMENT))
        op.create_index(f"{name}_expires", name, ["expires"])


def downgrade() -> None:
    """Drop both: nothing ends by itself any more."""
    for name in ("shares", "listed"):
        op.drop_index(f"{name}_expires", name)
        op.drop_column(name, "expires")
