/** What lists of a declared type join and sort by. */
import type { Join } from '../../storage/entities/tables/row-store.ts'
import { columnOf, type ColumnSet, type EntityDefinition } from './define.ts'

export function joinsOf({
  shows = {},
  columns,
}: Pick<EntityDefinition<ColumnSet>, 'shows' | 'columns'>): readonly Join[] {
  return Object.entries(shows).map(([as, { by, table, column }]) => ({
    alias: aliasOf(as),
    table,
    column: columnOf(by, columns[by]),
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
    ...Object.fromEntries(own.map(([member, column]) => [member, columnOf(member, column)])),
    ...Object.fromEntries(Object.entries(shows).map(([as, { column }]) => [as, `${aliasOf(as)}.${column}`])),
  }
}

export function aliasOf(shown: string): string {
  return `of_${columnOf(shown)}`
}
