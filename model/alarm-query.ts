/** Queries over alarms: of which entities, which of them, in which order, with which values of the entities. Source: `rest-api.md` 7.6. */
import type { AskedFilter, Combination, EntityFilter, EntityKey, EntityPageLink } from './entity-query.ts'

export interface AlarmCountQuery {
  /** Undefined for all that the caller may see. */
  readonly filter: EntityFilter | undefined
  /** Of entities, and (keys of the type ALARM_FIELD) of the alarms themselves. */
  readonly keyFilters: readonly AskedFilter[]
  readonly operation: Combination
  /** Bounds of the time of creation, Unix ms, both included; undefined where there is none. */
  readonly startTs: number | undefined
  readonly endTs: number | undefined
  /** Up to now, in the place of the bounds. */
  readonly timeWindowMs: number | undefined
  readonly types: readonly string[] | undefined
  readonly severities: readonly string[] | undefined
  readonly cleared?: boolean
  readonly acknowledged?: boolean
  readonly assigneeId: string | undefined
  /** Those of other entities too that show on these. */
  readonly isPropagated: boolean
}

export interface AlarmDataQuery extends AlarmCountQuery {
  readonly filter: EntityFilter
  /** A sort key of the type ALARM_FIELD sorts alarms; any other one the entities, whose alarms follow each other. */
  readonly page: EntityPageLink
  /** Members of alarms in which is searched. */
  readonly alarmFields: readonly string[]
  readonly fields: readonly string[]
  readonly latest: readonly EntityKey[]
}
