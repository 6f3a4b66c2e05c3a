"""Clients from whom nothing is taken. There are none at first."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "bans",
        sa.Column("client", sa.String(64), primary_key=True, comment="digest of a client, or SHA-256 of a secret"),
        sa.Column("day", sa.String(10), nullable=False, comment="UTC, ISO 8601: the ban ends with it; empty: never"),
    )


def downgrade() -> None:
    """Drop it: everybody is served."""
    op.drop_table("bans")
