/**
 * Versioned migrations of the SQLite schema. Each is one transaction together with its line in `schema_version`, so a
 * process killed in the middle of one finds the version before it. What was released never changes: add a new one.
 */
import { EntityStoreErrors } from '../errors.ts'
import { sql } from 'kysely'
import type { EntityDatabase } from '../database.ts'
import type { EntityTable } from '../tables/entity-table.ts'
import { tableMigrations } from '../tables/table-sql.ts'

export interface Migration {
  readonly version: number
  readonly statements: readonly string[]
  /** Not in PostgreSQL, which keeps versions in a table of its own. */
  readonly isSqliteOnly?: boolean
}

const ENTITY = 'id text primary key, created_time integer not null, version integer not null'

export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    statements: [
      `create table tenant (${ENTITY}, title text not null unique, additional_info text not null)`,
      `create table customer (${ENTITY}, tenant_id text not null references tenant(id), title text not null,
        additional_info text not null, unique (tenant_id, title))`,
      `create table app_user (${ENTITY}, tenant_id text references tenant(id), customer_id text references customer(id),
        email text not null unique, authority text not null, first_name text, last_name text, phone text,
        additional_info text not null)`,
      `create table user_credentials (user_id text primary key references app_user(id) on delete cascade,
        password_hash text not null, tokens_valid_from integer not null)`,
      `create table rule_chain (${ENTITY}, tenant_id text not null references tenant(id), name text not null,
        type text not null, first_rule_node_id text, root integer not null, debug_mode integer not null,
        configuration text not null, additional_info text not null, notes text)`,
      'create index rule_chain_tenant on rule_chain (tenant_id)',
      'create unique index rule_chain_root on rule_chain (tenant_id, type) where root = 1',
      `create table rule_node (id text primary key, created_time integer not null,
        rule_chain_id text not null references rule_chain(id) on delete cascade, position integer not null,
        type text not null, name text not null, debug_settings text not null, singleton_mode integer not null,
        queue_name text, configuration_version integer not null, configuration text not null,
        additional_info text not null, disabled_reason text)`,
      'create index rule_node_chain on rule_node (rule_chain_id, position)',
      `create table rule_node_connection (rule_chain_id text not null references rule_chain(id) on delete cascade,
        from_node_id text not null, to_node_id text not null, type text not null,
        primary key (rule_chain_id, from_node_id, to_node_id, type)) without rowid`,
      `create table device_profile (${ENTITY}, tenant_id text not null references tenant(id), name text not null,
        description text, is_default integer not null, transport_type text not null, provision_type text not null,
        default_rule_chain_id text references rule_chain(id), default_queue_name text, profile_data text not null,
        unique (tenant_id, name))`,
      'create unique index device_profile_default on device_profile (tenant_id) where is_default = 1',
      `create table device (${ENTITY}, tenant_id text not null references tenant(id),
        customer_id text references customer(id), device_profile_id text not null references device_profile(id),
        name text not null, label text, device_data text not null, additional_info text not null,
        unique (tenant_id, name))`,
      'create index device_customer on device (customer_id)',
      'create index device_device_profile on device (device_profile_id)',
      `create table device_credentials (${ENTITY}, tenant_id text not null,
        device_id text not null unique references device(id) on delete cascade, credentials_type text not null,
        credentials_id text not null unique, credentials_value text)`,
      `create table attribute (entity_id text not null, scope integer not null, key text not null, kind integer not null,
        long_value integer, double_value real, text_value text, last_update_ts integer not null,
        sequence integer not null, primary key (entity_id, scope, key)) without rowid`,
      'create table outbox (id integer primary key autoincrement, message text not null)',
      'create table cleanup (entity_id text primary key) without rowid',
      'create table setting (name text primary key, value text not null) without rowid',
    ],
  },
  {
    version: 2,
    statements: [
      `create table queue (${ENTITY}, tenant_id text not null, name text not null, topic text not null,
        poll_interval integer not null, partitions integer not null, consumer_per_partition integer not null,
        pack_processing_timeout integer not null, submit_strategy text not null, processing_strategy text not null,
        additional_info text not null, unique (tenant_id, name), unique (tenant_id, topic))`,
    ],
  },
  {
    version: 3,
    statements: [
      'create table ended_session (session_id text primary key, ended_until integer not null) without rowid',
      'create index ended_session_until on ended_session (ended_until)',
    ],
  },
  {
    version: 4,
    statements: [
      `create table credential_change (id integer primary key autoincrement, device_id text not null,
        changed_time integer not null)`,
      'create index credential_change_time on credential_change (changed_time)',
    ],
  },
  {
    version: 5,
    isSqliteOnly: true,
    statements: [
      `create table table_version (table_name text not null, version integer not null, applied_time integer not null,
        primary key (table_name, version)) without rowid`,
    ],
  },
  {
    version: 6,
    statements: [
      // For entity queries, which use the same words; of a text its beginning, as an index takes no long ones.
      `create index attribute_number on attribute (key, scope,
        (case when kind in (2, 3) then coalesce(double_value, long_value, 0) end)) where kind in (2, 3)`,
      `create index attribute_words on attribute (key, scope,
        (case when kind = 4 then substr(text_value, 1, 64) end)) where kind = 4`,
    ],
  },
  {
    version: 7,
    statements: [
      // Of columns alone, with the id: entries are counted, and joined, without a look at their rows.
      `create index attribute_values on attribute (key, scope, kind, long_value, double_value, entity_id)
        where kind < 4`,
      'drop index attribute_number',
    ],
  },
  {
    version: 8,
    statements: [
      // Filled by triggers, see `tables/count-triggers.ts`.
      `create table tenant_count (tenant_id text not null, kind text not null, writer integer not null, n integer not null,
        primary key (tenant_id, kind, writer)) without rowid`,
    ],
  },
  {
    version: 9,
    statements: [
      // The visit of a rule node that wrote it last; users leave it as it is.
      'alter table attribute add column writer integer',
    ],
  },
]

/** Brings the schema to the newest version. Throws `DATABASE_NEWER` where the file was written by a newer program. */
export async function migrate(
  database: EntityDatabase,
  file: string,
  appliedTime: number,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  await database.write([
    {
      sql: 'create table if not exists schema_version (version integer primary key, applied_time integer not null)',
      parameters: [],
    },
  ])
  const { rows } = await database.read(
    database.builder
      .selectFrom('schema_version')
      .select(({ fn }) => fn.max('version').as('version'))
      .compile(),
  )
  const found = rows[0]?.version ?? 0
  const known = migrations.at(-1)?.version ?? 0
  if (found > known) throw EntityStoreErrors.DATABASE_NEWER({ file, found, known })
  for (const migration of migrations) {
    if (migration.version <= found) continue
    const steps = migration.statements.map((sql) => ({ sql, parameters: [] }))
    const note = {
      sql: 'insert into schema_version (version, applied_time) values (?, ?)',
      parameters: [migration.version, appliedTime],
    }
    await database.write([...steps, note])
  }
}

/** Makes the declared tables, and raises each to its newest version. Throws `DATABASE_NEWER`. */
export async function migrateTables(
  database: EntityDatabase,
  file: string,
  appliedTime: number,
  tables: readonly EntityTable[],
): Promise<void> {
  const query = sql<{ table_name: string; version: number }>`
    select table_name, max(version) as version from table_version group by table_name`
  const { rows } = await database.read(query.compile(database.builder))
  const found = new Map(rows.map((row) => [row.table_name, Number(row.version)]))
  for (const table of tables) {
    const before = found.get(table.name) ?? 0
    if (before > table.version)
      throw EntityStoreErrors.DATABASE_NEWER({ file: `${file} (${table.name})`, found: before, known: table.version })
    for (const { version, statements } of tableMigrations(table, 'sqlite')) {
      if (version <= before) continue
      const note = {
        sql: 'insert into table_version (table_name, version, applied_time) values (?, ?, ?)',
        parameters: [table.name, version, appliedTime],
      }
      await database.write([...statements.map((text) => ({ sql: text, parameters: [] })), note])
    }
  }
}
