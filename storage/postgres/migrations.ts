/**
 * Versioned schemas in PostgreSQL, one number a component. Under an advisory lock, so that processes that start at the same
 * time raise the schema once; in one transaction, so that one killed in the middle leaves the version before it. What was released
 * never changes: add a new version.
 */
import type { PostgresConnection, PostgresQuery, PostgresResult } from './connection.ts'
import { PostgresErrors } from './errors.ts'

export interface PostgresMigration {
  readonly version: number
  readonly statements: readonly string[]
}

export interface Component {
  readonly name: string
  readonly migrations: readonly PostgresMigration[]
}

/** "mill": one lock for all components, as they may name each other's tables. */
const MIGRATION_LOCK = 0x6d696c6c
/** An index over a hundred million rows takes many minutes, and all that are sent together wait for each other; so does a process that starts meanwhile. */
const MIGRATED_WITHIN_MS = 6 * 3_600_000

/** Raises the component to its newest version. Throws `postgres.SCHEMA_NEWER` where a newer program was here. */
export async function migratePostgres(
  connection: PostgresConnection,
  component: Component,
  appliedTime: number,
): Promise<void> {
  const first = [
    { text: `set local statement_timeout = ${MIGRATED_WITHIN_MS}` },
    { text: `select pg_advisory_xact_lock(${MIGRATION_LOCK})` },
    {
      text: `create table if not exists schema_version (component text not null, version integer not null,
        applied_time bigint not null, primary key (component, version))`,
    },
    { text: 'select max(version) as version from schema_version where component = $1', parameters: [component.name] },
  ]
  const raise = ([, , , found]: readonly PostgresResult<{ version: number | null }>[]): readonly PostgresQuery[] => {
    const before = found?.rows[0]?.version ?? 0
    const known = component.migrations.at(-1)?.version ?? 0
    if (before > known) throw PostgresErrors.SCHEMA_NEWER({ component: component.name, found: before, known })
    const steps = component.migrations.filter((migration) => migration.version > before)
    return steps.flatMap((migration) => queriesOf(component, migration, appliedTime))
  }
  await connection.transaction(first, raise, MIGRATED_WITHIN_MS)
}

function queriesOf(component: Component, migration: PostgresMigration, appliedTime: number): PostgresQuery[] {
  const note = {
    text: 'insert into schema_version (component, version, applied_time) values ($1, $2, $3)',
    parameters: [component.name, migration.version, appliedTime],
  }
  return [...migration.statements.map((text) => ({ text })), note]
}
