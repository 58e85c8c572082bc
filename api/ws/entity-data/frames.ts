/** The frames of ENTITY_DATA. Source: `websocket-api.md` 6.2. */
import type { EntityId } from '../../../model/entity-id.ts'
import type { ShownValue } from '../../../model/entity-query.ts'

/** Entities of one command; a query that finds more is told so. */
export const ALLOWED_ENTITIES = 10_000

/** A point of a series as clients read it; `count` with averages. */
export interface SeriesPoint {
  readonly ts: number
  readonly value?: string
  readonly count?: number
}

export interface ComparedAggregate {
  readonly current: SeriesPoint | null
  readonly previous: SeriesPoint | null
}

/** By the type of the key, then by the key. */
export type ShownLatest = Readonly<Record<string, Readonly<Record<string, ShownValue>>>>

export interface ShownEntity {
  readonly entityId: EntityId
  readonly latest: ShownLatest | null
  readonly timeseries: Readonly<Record<string, readonly SeriesPoint[]>> | null
  readonly aggLatest: Readonly<Record<string, ComparedAggregate>> | null
}

export interface ShownPage {
  readonly data: readonly ShownEntity[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

function head(cmdId: number, errorCode: number, errorMsg: string | null) {
  return { cmdId, errorCode, errorMsg, cmdUpdateType: 'ENTITY_DATA', allowedEntities: ALLOWED_ENTITIES }
}

export function dataFrame(cmdId: number, data: ShownPage): string {
  return JSON.stringify({ ...head(cmdId, 0, null), data, update: null })
}

export function changesFrame(cmdId: number, update: readonly ShownEntity[]): string {
  return JSON.stringify({ ...head(cmdId, 0, null), data: null, update })
}

export function failureFrame(cmdId: number, errorCode: number, errorMsg: string): string {
  return JSON.stringify({ ...head(cmdId, errorCode, errorMsg), data: null, update: null })
}

/** An object whose members may have any name. */
export function named<Value>(entries: Iterable<readonly [string, Value]>): Readonly<Record<string, Value>> {
  const object = Object.create(null) as Record<string, Value>
  for (const [name, value] of entries) object[name] = value
  return object
}
