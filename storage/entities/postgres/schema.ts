/**
 * The schema in PostgreSQL: the migrations of SQLite in the other dialect, so that a table is described once, and what only a
 * shared database needs. Text sorts by its bytes, as in SQLite, whatever the database's own collation is.
 */
import type { Component, PostgresMigration } from '../../postgres/migrations.ts'
import { MIGRATIONS } from '../sqlite/migrations.ts'
import { COUNT_FUNCTIONS } from '../tables/count-triggers.ts'
import type { EntityTable } from '../tables/entity-table.ts'
import { tableMigrations } from '../tables/table-sql.ts'

export const FOLD_FUNCTION = 'millrace_fold'
export const EXPECT_FUNCTION = 'millrace_expect'
/** The SQLSTATE of a statement that did not touch as many rows as it was to. */
export const UNEXPECTED_CHANGES = 'MR001'

export const ENTITIES: Component = {
  name: 'entities',
  migrations: MIGRATIONS.map(({ version, statements, isSqliteOnly }): PostgresMigration => ({
    version,
    statements: isSqliteOnly === true ? [] : statements.map(inPostgres),
  })),
}

/** A declared table, a component of its own. */
export function tableComponent(table: EntityTable): Component {
  return { name: `table ${table.name}`, migrations: tableMigrations(table, 'postgres') }
}

/** Beside the tables: raised after them. */
export const ENTITIES_SHARED: Component = {
  name: 'entities-shared',
  migrations: [
    {
      version: 1,
      statements: [
        `create function ${EXPECT_FUNCTION}(touched bigint, expected bigint) returns bigint language plpgsql as $body$
          begin
            if touched <> expected then
              raise exception 'touched % rows, not %', touched, expected using errcode = '${UNEXPECTED_CHANGES}';
            end if;
            return touched;
          end $body$`,
        // A database made with the C locale knows ASCII letters only: a Unicode collation where the server has one.
        `do $do$
          declare chosen text;
          begin
            select collname into chosen from pg_collation
              where collname in ('und-x-icu', 'C.utf8', 'en_US.utf8') and collencoding in (-1, pg_char_to_encoding('UTF8'))
              order by array_position(array['und-x-icu', 'C.utf8', 'en_US.utf8'], collname::text) limit 1;
            execute format('create function ${FOLD_FUNCTION}(value text) returns text language sql immutable
              parallel safe as $body$ select lower(value collate %I) collate "C" $body$', coalesce(chosen, 'default'));
          end $do$`,
        // Who added an entry has this long to publish it; then any process may. By the clock of the server, which all share.
        'alter table outbox add column claimed_until bigint not null default ((extract(epoch from now()) + 10) * 1000)::bigint',
        'create index outbox_claimed on outbox (claimed_until)',
        // Small tables with much change: room for updates beside the old rows, and cleaning before they swell.
        'alter table attribute set (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05)',
        'alter table outbox set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)',
      ],
    },
    { version: 2, statements: COUNT_FUNCTIONS },
    {
      version: 3,
      statements: [
        // From when the entry is added: its transaction may have begun long before, and waited for others.
        'alter table outbox alter column claimed_until set default ((extract(epoch from clock_timestamp()) + 10) * 1000)::bigint',
      ],
    },
  ],
}

function inPostgres(statement: string): string {
  return statement
    .replaceAll(/\binteger primary key autoincrement\b/g, 'bigint generated always as identity primary key')
    .replaceAll(/\binteger\b/g, 'bigint')
    .replaceAll(/\breal\b/g, 'double precision')
    .replaceAll(/\btext\b/g, 'text collate "C"')
    .replace(/\) without rowid$/, ')')
}
