"""Which cases have been in the library: those that are, and those that are gone, for they may have been."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_COMMENT = "in the library, now or before"


def upgrade() -> None:
    """Add the column, and say what is known."""
    added = sa.Column("been_listed", sa.Boolean, nullable=False, server_default=sa.false(), comment=_COMMENT)
    op.add_column("cases", added)
    op.execute("UPDATE cases SET been_listed = true WHERE deleted IS NOT NULL OR id IN (SELECT case_id FROM listed)")


def downgrade() -> None:
    """Drop it."""
    op.drop_column("cases", "been_listed")
