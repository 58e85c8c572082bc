/** What originators of alarms are called, for queries whose table of alarms is called `alarm`. */
import { sql } from 'kysely'
import type { Sql } from './predicates-sql.ts'
import type { QueryTable } from './query.ts'

/** A label that says nothing is the name. */
export function originatorName(originators: readonly QueryTable[], wanted: 'name' | 'label'): Sql {
  const cases = originators.flatMap(({ entityType, table, fields }) => {
    const { name, label } = fields
    if (name?.is !== 'text') return []
    const named = sql.ref(`o.${name.column}`)
    const hasLabel = wanted === 'label' && label?.is === 'text'
    const shown = hasLabel ? sql`coalesce(nullif(${sql.ref(`o.${label.column}`)}, ''), ${named})` : named
    return [
      sql`when ${sql.lit(entityType)} then (select ${shown} from ${sql.table(table)} as o where o.id = alarm.originator_id)`,
    ]
  })
  return cases.length === 0 ? sql`''` : sql`case alarm.originator_type ${sql.join(cases, sql` `)} end`
}

/** By what lists of alarms may be sorted so. */
export function originatorSorts(originators: readonly QueryTable[]): Readonly<Record<string, Sql>> {
  const label = originatorName(originators, 'label')
  return {
    originatorName: originatorName(originators, 'name'),
    originatorLabel: label,
    originatorDisplayName: label,
  }
}
