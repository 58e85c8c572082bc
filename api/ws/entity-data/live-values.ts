/** What one ENTITY_DATA command has shown, and what of a change is news to its client. Source: `websocket-api.md` 6.3. */
import type { EntityId } from '../../../model/entity-id.ts'
import { valueText } from '../../../model/entry-json.ts'
import type { EntityData, EntityKey, EntityKeyType, ShownValue } from '../../../model/entity-query.ts'
import type { Attribute, AttributeScope, DataPoint } from '../../../model/value.ts'
import type { Change } from '../../../engine/subscriptions/change.ts'
import type { FollowedChange } from '../followed-entities.ts'
import { isIn } from '../selection.ts'
import type { Draft } from './draft.ts'
import type { ShownEntity } from './frames.ts'
import { KnownValues } from './known-values.ts'
import { shownPoint, type SeriesRequest } from './series.ts'

const SCOPE_TYPES = {
  CLIENT_SCOPE: 'CLIENT_ATTRIBUTE',
  SERVER_SCOPE: 'SERVER_ATTRIBUTE',
  SHARED_SCOPE: 'SHARED_ATTRIBUTE',
} as const satisfies Readonly<Record<AttributeScope, EntityKeyType>>

export const GONE: ShownValue = { ts: 0, value: '' }

export class LiveValues {
  readonly known = new KnownValues()
  points: SeriesRequest | undefined
  private live: ReadonlySet<string> = new Set()
  /** The last point shown of each series, and up to which commit the series of an entity was read. */
  private readonly lastPoints = new Map<string, ShownValue>()
  private readonly readUpTo = new Map<string, number>()
  private readonly changed: () => Draft

  /** `changed` takes what is news. */
  constructor(changed: () => Draft) {
    this.changed = changed
  }

  set(live: readonly EntityKey[], points: SeriesRequest | undefined): void {
    this.live = new Set(live.map(nameOf))
    this.points = points
  }

  /** A page, in the place of the one that was shown: what is not on it is not kept. */
  take(page: readonly EntityData[]): void {
    this.known.keepOnly(page.map(({ entity }) => entity))
    for (const { entity, latest } of page) this.known.take(entity, latest)
  }

  /** The series are read anew. */
  clear(): void {
    this.lastPoints.clear()
    this.readUpTo.clear()
  }

  /** Of the newest point shown; -Infinity where there is none. */
  lastTime(entity: EntityId): number {
    const times = this.points?.keys.map((key) => this.lastPoints.get(seriesName(entity, key))?.ts ?? -Infinity)
    return Math.max(-Infinity, ...(times ?? []))
  }

  /** What is in the snapshot is not told again. */
  note(entity: EntityId, series: ShownEntity['timeseries'], sequence: number): void {
    this.readUpTo.set(entity.id, sequence)
    if (this.points?.agg !== undefined && this.points.agg !== 'NONE') return
    for (const [key, points] of Object.entries(series ?? {})) {
      const newest = points[0]
      if (newest?.value !== undefined)
        this.lastPoints.set(seriesName(entity, key), { ts: newest.ts, value: newest.value })
    }
  }

  /** False where only the store knows what is so now. */
  show(entity: EntityId, change: FollowedChange): boolean {
    switch (change.kind) {
      case 'points': {
        const isRead = this.isRead(entity, change.change)
        for (const point of change.points) {
          if (this.points?.keys.includes(point.key) === true && !(isRead && this.isInWindow(point)))
            this.showPoint(entity, point)
          this.showValue(entity, 'TIME_SERIES', point.key, { ts: point.ts, value: valueText(point) })
        }
        return true
      }
      case 'points-gone':
        // Whether somebody has written the key anew since is known to the store alone.
        if (change.isRemote) return false
        for (const key of change.keys) this.showValue(entity, 'TIME_SERIES', key, GONE)
        return true
      case 'attributes':
        for (const attribute of change.attributes) this.showAttribute(entity, change.scope, attribute)
        return true
      case 'attributes-gone': {
        let isKnown = true
        if (change.isRemote) return false
        for (const key of change.keys) {
          this.showValue(entity, SCOPE_TYPES[change.scope], key, GONE)
          // Another scope may have it still.
          if (this.live.has(nameOf({ type: 'ATTRIBUTE', key }))) isKnown = false
        }
        return isKnown
      }
      case 'entity':
      case 'alarm':
        return true
    }
  }

  private showAttribute(entity: EntityId, scope: AttributeScope, attribute: Attribute): void {
    const value = { ts: attribute.lastUpdateTs, value: valueText(attribute) }
    this.showValue(entity, SCOPE_TYPES[scope], attribute.key, value)
    this.showValue(entity, 'ATTRIBUTE', attribute.key, value)
  }

  private showValue(entity: EntityId, type: EntityKeyType, key: string, value: ShownValue): void {
    if (!this.live.has(nameOf({ type, key }))) return
    if (this.known.put(entity, type, key, value, value === GONE)) this.changed().latest(entity, type, key, value)
  }

  showPoint(entity: EntityId, point: DataPoint): void {
    const name = seriesName(entity, point.key)
    const value = valueText(point)
    const last = this.lastPoints.get(name)
    if (last?.ts === point.ts && last.value === value) return
    if (last === undefined || point.ts >= last.ts) this.lastPoints.set(name, { ts: point.ts, value })
    this.changed().point(entity, point.key, shownPoint(point, undefined))
  }

  private isRead({ id }: EntityId, change: Change): boolean {
    const sequence = this.readUpTo.get(id)
    return sequence !== undefined && isIn(change, { sequence })
  }

  private isInWindow({ ts }: DataPoint): boolean {
    return this.points !== undefined && ts >= this.points.startTs && ts < this.points.endTs
  }
}

function nameOf({ type, key }: EntityKey): string {
  return `${type} ${key}`
}

function seriesName({ id }: EntityId, key: string): string {
  return id + key
}
