/** What lists of a declared type join and sort by. */
import type { Condition, Join } from '../../storage/entities/tables/row-store.ts'
import { columnOf, type ColumnSet, type EntityDefinition } from './define.ts'

export function joinsOf({
  shows = {},
  columns,
}: Pick<EntityDefinition<ColumnSet>, 'shows' | 'columns'>): readonly Join[] {
  return Object.entries(shows).map(([as, { by, table, column, idColumn, and }]) => ({
    alias: aliasOf(as),
    table,
    column: columnOf(by, columns[by]),
    ...(idColumn === undefined ? {} : { idColumn }),
    ...(and === undefined ? {} : { and }),
    shows: { [as]: column },
  }))
}

export function sortOf(
  definition: Pick<EntityDefinition<ColumnSet>, 'shows' | 'columns'>,
): Readonly<Record<string, string>> {
  const { columns, shows = {} } = definition
  const own = Object.entries(columns).filter(([, { isSorted }]) => isSorted)
  return {
    createdTime: 'created_time',
    tenantId: 'tenant_id',
    version: 'version',
    // As clients call it there.
    ...('default' in columns ? { isDefault: columnOf('default', columns['default']) } : {}),
    ...Object.fromEntries(own.map(([member, column]) => [member, columnOf(member, column)])),
    ...Object.fromEntries(Object.entries(shows).map(([as, { column }]) => [as, `${aliasOf(as)}.${column}`])),
  }
}

export function aliasOf(shown: string): string {
  return `of_${columnOf(shown)}`
}

export function searchedColumns(
  { columns, shows = {}, name }: Pick<EntityDefinition<ColumnSet>, 'shows' | 'columns' | 'name'>,
  form: 'plain' | 'infos',
): readonly string[] {
  if (form === 'plain') return [columnOf(name, columns[name])]
  const own = Object.entries(columns).filter(([, { isSearched }]) => isSearched)
  const shown = Object.entries(shows).filter(([, { isSearched }]) => isSearched === true)
  return [
    ...own.map(([member, column]) => columnOf(member, column)),
    ...shown.map(([as, { column }]) => `${aliasOf(as)}.${column}`),
  ]
}

/** Where members ask for a flag that lists show: of those without a row it is false. */
export function flagConditions(
  { shows = {} }: Pick<EntityDefinition<ColumnSet>, 'shows'>,
  members: Readonly<Record<string, unknown>>,
): readonly Condition[] {
  return Object.entries(shows)
    .filter(([as, { isFlag }]) => isFlag === true && typeof members[as] === 'boolean')
    .map(([as, { column: name }]) => {
      const column = `${aliasOf(as)}.${name}`
      return members[as] === true ? { column, is: 1 } : { column, isNot: 1 }
    })
}
