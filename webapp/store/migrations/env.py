"""What Alembic runs to migrate: the connection and its transaction come from `webapp.store.migrate`."""

from __future__ import annotations

from alembic import context

from webapp.store.schema import metadata

# SQLite's DDL is transactional too once the driver's implicit BEGIN is off; batch mode lets later
# revisions change columns there.
context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
context.run_migrations()
