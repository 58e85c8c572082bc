/**
 * Triggers that keep in `tenant_count` how many rows of a table each tenant has, whoever writes: saves, cascades, moves, erasure, SQL by
 * hand. A row is of a tenant, a table and a writer; the number is the sum over writers, of which a single one may be negative.
 *
 * In PostgreSQL a writer is a server process: two transactions never change the same row, so counting makes nobody wait and can lock
 * nobody out. SQLite has one writer, 0.
 */
import type { DatabaseLanguage } from './entity-table.ts'

/** Of those who are gone; in SQLite the only one. */
export const NO_WRITER = 0

const ADD_FUNCTION = 'millrace_count_rows'
const MOVE_FUNCTION = 'millrace_count_move'
const FORGET_FUNCTION = 'millrace_forget_counts'

const ADDING = `insert into tenant_count (tenant_id, kind, writer, n)`
const TO_WHAT_IS_THERE = `on conflict (tenant_id, kind, writer) do update set n = tenant_count.n + excluded.n`

/** For PostgreSQL, made before the triggers that call them. */
export const COUNT_FUNCTIONS: readonly string[] = [
  // `tg_argv[0]`: 1 or -1. One call a statement, however many rows it has.
  `create function ${ADD_FUNCTION}() returns trigger language plpgsql as $body$
    begin
      ${ADDING}
        select tenant_id, tg_table_name::text, pg_backend_pid(), count(*) * tg_argv[0]::bigint
        from changed where tenant_id is not null group by tenant_id
      ${TO_WHAT_IS_THERE};
      return null;
    end $body$`,
  `create function ${MOVE_FUNCTION}() returns trigger language plpgsql as $body$
    begin
      ${ADDING}
        select tenant_id, tg_table_name::text, pg_backend_pid(), n
        from (values (old.tenant_id, -1), (new.tenant_id, 1)) as moved (tenant_id, n) where tenant_id is not null
      ${TO_WHAT_IS_THERE};
      return null;
    end $body$`,
  `create function ${FORGET_FUNCTION}() returns trigger language plpgsql as $body$
    begin
      delete from tenant_count where tenant_id in (select id from changed);
      return null;
    end $body$`,
  // Rows change with every creation: room beside the old ones, and cleaning before they are many.
  `alter table tenant_count set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`,
]

/** Counts the rows that are there, and each that comes, goes or becomes another tenant's. */
export function countingRows(table: string, language: DatabaseLanguage): readonly string[] {
  const triggers = language === 'sqlite' ? sqliteTriggers(table) : postgresTriggers(table)
  // After the triggers: in PostgreSQL these wait for whoever writes, and nobody writes between.
  return [
    ...triggers,
    `${ADDING} select tenant_id, '${table}', ${NO_WRITER}, count(*) from ${table} where tenant_id is not null group by tenant_id`,
  ]
}

/** Lets go of a tenant's numbers with the tenant. */
export function forgettingCounts(language: DatabaseLanguage): readonly string[] {
  return language === 'sqlite'
    ? [
        `create trigger tenant_count_forget after delete on tenant
          begin delete from tenant_count where tenant_id = old.id; end`,
      ]
    : [
        `create trigger tenant_count_forget after delete on tenant referencing old table as changed
          for each statement execute function ${FORGET_FUNCTION}()`,
      ]
}

function postgresTriggers(table: string): readonly string[] {
  return [
    `create trigger tenant_count_add after insert on ${table} referencing new table as changed
      for each statement execute function ${ADD_FUNCTION}('1')`,
    `create trigger tenant_count_take after delete on ${table} referencing old table as changed
      for each statement execute function ${ADD_FUNCTION}('-1')`,
    // Nearly every update leaves the tenant alone: the condition is looked at before anything is called.
    `create trigger tenant_count_move after update of tenant_id on ${table} for each row
      when (old.tenant_id is distinct from new.tenant_id) execute function ${MOVE_FUNCTION}()`,
  ]
}

function sqliteTriggers(table: string): readonly string[] {
  const add = (tenantId: string): string => `
    insert into tenant_count (tenant_id, kind, writer, n) select ${tenantId}, '${table}', ${NO_WRITER}, 0
      where ${tenantId} is not null and not exists (
        select 1 from tenant_count where tenant_id = ${tenantId} and kind = '${table}' and writer = ${NO_WRITER});
    update tenant_count set n = n + 1 where tenant_id = ${tenantId} and kind = '${table}' and writer = ${NO_WRITER};`
  const take = `
    update tenant_count set n = n - 1 where tenant_id = old.tenant_id and kind = '${table}' and writer = ${NO_WRITER};`
  return [
    `create trigger tenant_count_add_${table} after insert on ${table} begin ${add('new.tenant_id')} end`,
    `create trigger tenant_count_take_${table} after delete on ${table} begin ${take} end`,
    `create trigger tenant_count_move_${table} after update of tenant_id on ${table}
      when old.tenant_id is not new.tenant_id begin ${take} ${add('new.tenant_id')} end`,
  ]
}
