"""Results of before are forgotten: they said how one chunking went, and now all are held to what a case expects.

A total of both kinds said nothing, and what has a result is not run again.
"""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forget the results, and how many there were."""
    op.execute("DELETE FROM tried")
    op.execute("DELETE FROM tried_counts")


def downgrade() -> None:
    """Nothing: what is run from then on has its results."""
