/**
 * What one subscription shows of an entity: how its snapshot is read, and which parts of a change it shows. A selection is
 * the pure part of a subscription; order and timing are `subscription.ts`'s.
 */
import type { EntityId } from '../../model/entity-id.ts'
import { valueText } from '../../model/entry-json.ts'
import type { AttributeScope, DataPoint } from '../../model/value.ts'
import type { Change } from '../../engine/subscriptions/change.ts'
import type { HistoryRequest } from '../../services/services.ts'
import type { ReadServices } from './read-services.ts'
import type { ShownValue, ShownValues } from './frames.ts'

export interface SelectionSnapshot {
  readonly values: ShownValues
  readonly sequence: number
}

/** A part of a change that the subscription shows: values, or keys that went. */
export type Shown =
  { readonly kind: 'values'; readonly values: ShownValues } | { readonly kind: 'gone'; readonly values: ShownValues }

export interface Selection {
  read(): Promise<SelectionSnapshot>
  /** Undefined where the change has nothing of it. `inSnapshot`: the snapshot was read after the change was committed. */
  show(change: Change, inSnapshot: boolean): Shown | undefined
}

export interface TimeSeriesQuery {
  readonly entity: EntityId
  /** Undefined: all keys, also future ones. */
  readonly keys: readonly string[] | undefined
  /** The window of the first frame; without it, the latest values. */
  readonly window: Omit<HistoryRequest, 'keys'> | undefined
  /** Leave out points that are older than what was shown last. */
  readonly latestOnly: boolean
  readonly now: () => number
}

export class TimeSeriesSelection implements Selection {
  private readonly telemetry: ReadServices['telemetry']
  private readonly query: TimeSeriesQuery
  private readonly keys: ReadonlySet<string> | undefined
  /** The newest time shown of a key; bounded by the keys of one entity. */
  private readonly newest = new Map<string, number>()

  constructor(telemetry: ReadServices['telemetry'], query: TimeSeriesQuery) {
    this.telemetry = telemetry
    this.query = query
    this.keys = query.keys === undefined ? undefined : new Set(query.keys)
  }

  async read(): Promise<SelectionSnapshot> {
    const { entity, keys, window } = this.query
    const values = new Map<string, ShownValue[]>()
    if (keys !== undefined && window !== undefined) {
      const { value, sequence } = await this.telemetry.history(entity, { keys, ...window })
      // The time of a bucket is no point's time: it says nothing about which points are late.
      const aggregated = (window.agg ?? 'NONE') !== 'NONE' && (window.interval ?? 0) > 0
      for (const [key, points] of value) this.add(values, key, points)
      if (aggregated) this.newest.clear()
      return { values, sequence }
    }
    const { value, sequence } = await this.telemetry.latest(entity, keys)
    for (const point of value) this.add(values, point.key, [point])
    for (const key of keys ?? []) if (!values.has(key)) values.set(key, [[this.query.now(), null]])
    return { values, sequence }
  }

  show(change: Change, inSnapshot: boolean): Shown | undefined {
    if (change.kind === 'telemetry') {
      const values = new Map<string, ShownValue[]>()
      for (const point of change.points) {
        if (inSnapshot && this.coveredBySnapshot(point)) continue
        if (this.wants(point.key) && !this.isLate(point)) this.add(values, point.key, [point])
      }
      return values.size === 0 ? undefined : { kind: 'values', values }
    }
    if (change.kind !== 'telemetry-deleted' || inSnapshot) return undefined
    const gone = change.keys.filter((key) => this.wants(key))
    for (const key of gone) this.newest.delete(key)
    return gone.length === 0 ? undefined : { kind: 'gone', values: emptied(gone) }
  }

  /** A window's snapshot holds what lies in the window; a point beside it would be shown by nobody. */
  private coveredBySnapshot(point: DataPoint): boolean {
    const { keys, window } = this.query
    return keys === undefined || window === undefined || (point.ts >= window.startTs && point.ts < window.endTs)
  }

  private wants(key: string): boolean {
    return this.keys === undefined || this.keys.has(key)
  }

  private isLate(point: DataPoint): boolean {
    return this.query.latestOnly && point.ts < (this.newest.get(point.key) ?? -Infinity)
  }

  private add(values: Map<string, ShownValue[]>, key: string, points: readonly DataPoint[]): void {
    const list = values.get(key) ?? []
    let newest = this.newest.get(key) ?? -Infinity
    for (const point of points) {
      list.push([point.ts, valueText(point)])
      newest = Math.max(newest, point.ts)
    }
    if (list.length === 0) return
    values.set(key, list)
    this.newest.set(key, newest)
  }
}

export class AttributesSelection implements Selection {
  private readonly attributes: ReadServices['attributes']
  private readonly entity: EntityId
  private readonly scope: AttributeScope | undefined
  private readonly keys: readonly string[] | undefined
  private readonly wanted: ReadonlySet<string> | undefined

  /** Without a scope: of every scope. Without keys: all. */
  constructor(
    attributes: ReadServices['attributes'],
    entity: EntityId,
    scope: AttributeScope | undefined,
    keys: readonly string[] | undefined,
  ) {
    this.attributes = attributes
    this.entity = entity
    this.scope = scope
    this.keys = keys
    this.wanted = keys === undefined ? undefined : new Set(keys)
  }

  async read(): Promise<SelectionSnapshot> {
    const { value, sequence } = await this.attributes.find(this.entity, this.scope, this.keys)
    const values = new Map<string, ShownValue[]>()
    for (const attribute of value) push(values, attribute.key, [attribute.lastUpdateTs, valueText(attribute)])
    return { values, sequence }
  }

  show(change: Change, inSnapshot: boolean): Shown | undefined {
    if (inSnapshot || (change.kind !== 'attributes' && change.kind !== 'attributes-deleted')) return undefined
    if (this.scope !== undefined && change.scope !== this.scope) return undefined
    if (change.kind === 'attributes-deleted') {
      const gone = change.keys.filter((key) => this.wants(key))
      return gone.length === 0 ? undefined : { kind: 'gone', values: emptied(gone) }
    }
    if (change.audience === 'device') return undefined
    const values = new Map<string, ShownValue[]>()
    for (const attribute of change.attributes) {
      if (this.wants(attribute.key)) push(values, attribute.key, [attribute.lastUpdateTs, valueText(attribute)])
    }
    return values.size === 0 ? undefined : { kind: 'values', values }
  }

  private wants(key: string): boolean {
    return this.wanted === undefined || this.wanted.has(key)
  }
}

function emptied(keys: readonly string[]): ShownValues {
  return new Map(keys.map((key) => [key, [[0, '']]] as const))
}

export function push(values: Map<string, ShownValue[]>, key: string, value: ShownValue): void {
  const list = values.get(key)
  if (list === undefined) values.set(key, [value])
  else list.push(value)
}
