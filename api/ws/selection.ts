/**
 * What one subscription shows of an entity: how its snapshot is read, and which parts of a change it shows. A selection is
 * the pure part of a subscription; order and timing are `subscription.ts`'s.
 */
import type { EntityId } from '../../model/entity-id.ts'
import { valueText } from '../../model/entry-json.ts'
import type { Attribute, AttributeScope, DataPoint } from '../../model/value.ts'
import type { Change } from '../../engine/subscriptions/change.ts'
import type { Snapshot } from '../../storage/timeseries/store.ts'
import type { HistoryRequest } from '../../services/telemetry/telemetry-service.ts'
import type { ReadServices } from './read-services.ts'
import type { ShownValue, ShownValues } from './frames.ts'

/** Up to which changes a snapshot holds all (`Snapshot`). */
export type SnapshotPlace = Pick<Snapshot<unknown>, 'sequence' | 'ownSequence'>

/** Whether a snapshot holds the change; what is shown and never stored is in none. */
export function isIn(change: Change, { sequence, ownSequence }: SnapshotPlace): boolean {
  if (!('sequence' in change)) return false
  const own = 'ownSequence' in change && change.remote !== true ? change.ownSequence : undefined
  if (own !== undefined && ownSequence !== undefined) return own <= ownSequence
  return change.sequence !== undefined && change.sequence <= sequence
}

const NOTHING_READ: SnapshotPlace = { sequence: -Infinity, ownSequence: -Infinity }

/** A part of a change that the subscription shows: values, or keys that went. */
export type Shown =
  { readonly kind: 'values'; readonly values: ShownValues } | { readonly kind: 'gone'; readonly values: ShownValues }

export interface Selection {
  read(): Promise<ShownValues>
  /** Something may not have been heard: it is read again soon. */
  missed(): void
  /** Reads what may have been missed: all that differs from what was shown last. */
  readAgain(): Promise<readonly Shown[]>
  /** Undefined where the change has nothing of it that the last read did not hold; 'unknown' where only the store knows what is so now. */
  show(change: Change): Shown | 'unknown' | undefined
}

/** Points a key that are read again where some may have been missed. */
const MISSED_LIMIT = 1000

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
  /** The newest point shown of a key; bounded by the keys of one entity. */
  private readonly newest = new Map<string, ShownValue>()
  /** What it was when something may first have been missed, until that is read again. */
  private sound: ReadonlyMap<string, ShownValue> | undefined
  private snapshot = NOTHING_READ
  /** Of what was read again, and for a chart from which time of a key on. */
  private reread: { readonly place: SnapshotPlace; readonly startOf: (key: string) => number } | undefined

  constructor(telemetry: ReadServices['telemetry'], query: TimeSeriesQuery) {
    this.telemetry = telemetry
    this.query = query
    this.keys = query.keys === undefined ? undefined : new Set(query.keys)
  }

  missed(): void {
    if (this.query.window !== undefined) this.sound ??= new Map(this.newest)
  }

  async readAgain(): Promise<readonly Shown[]> {
    const { entity, keys, window } = this.query
    const { value, ...place } = await this.telemetry.latest(entity, keys)
    const sound = this.sound ?? this.newest
    const changed = value.filter((point) => !isSame(sound.get(point.key), point))
    const values = new Map<string, ShownValue[]>()
    const startOf = (key: string): number => sound.get(key)?.[0] ?? window?.startTs ?? -Infinity
    if (window !== undefined && changed.length > 0) await this.addMissed(values, changed, sound, startOf)
    this.sound = undefined
    this.reread = { place, startOf: window === undefined ? () => -Infinity : startOf }
    for (const point of changed) if (!isSame(this.newest.get(point.key), point)) this.add(values, point.key, [point])
    const shown: Shown[] = values.size === 0 ? [] : [{ kind: 'values', values }]
    if (window === undefined) {
      const present = new Set(value.map(({ key }) => key))
      const gone = [...this.newest.keys()].filter((key) => !present.has(key))
      for (const key of gone) this.newest.delete(key)
      if (gone.length > 0) shown.push({ kind: 'gone', values: emptied(gone) })
    }
    return shown
  }

  /** Points behind the newest one of each key that was shown before something was missed: a chart shows them all. */
  private async addMissed(
    values: Map<string, ShownValue[]>,
    changed: readonly DataPoint[],
    sound: ReadonlyMap<string, ShownValue>,
    startOf: (key: string) => number,
  ): Promise<void> {
    const keys = changed.map(({ key }) => key)
    const startTs = Math.min(...keys.map(startOf))
    const endTs = Math.max(...changed.map(({ ts }) => ts)) + 1
    if (startTs >= endTs) return
    const { value } = await this.telemetry.history(this.query.entity, { keys, startTs, endTs, limit: MISSED_LIMIT })
    for (const [key, points] of value) {
      const isNews = (point: DataPoint): boolean => point.ts >= startOf(key) && !isSame(sound.get(key), point)
      this.add(values, key, points.filter(isNews))
    }
  }

  async read(): Promise<ShownValues> {
    const { entity, keys, window } = this.query
    this.sound = undefined
    this.reread = undefined
    const values = new Map<string, ShownValue[]>()
    if (keys !== undefined && window !== undefined) {
      const { value, ...place } = await this.telemetry.history(entity, { keys, ...window })
      // The time of a bucket is no point's time: it says nothing about which points are late.
      const aggregated = (window.agg ?? 'NONE') !== 'NONE' && (window.interval ?? 0) > 0
      for (const [key, points] of value) this.add(values, key, points)
      if (aggregated) this.newest.clear()
      this.snapshot = place
      return values
    }
    const { value, ...place } = await this.telemetry.latest(entity, keys)
    for (const point of value) this.add(values, point.key, [point])
    for (const key of keys ?? []) if (!values.has(key)) values.set(key, [[this.query.now(), null]])
    this.snapshot = place
    return values
  }

  show(change: Change): Shown | 'unknown' | undefined {
    const isRead = isIn(change, this.snapshot)
    const isReread = this.reread !== undefined && isIn(change, this.reread.place)
    if (change.kind === 'telemetry') {
      const values = new Map<string, ShownValue[]>()
      for (const point of change.points) {
        if (isRead && this.isInWindow(point)) continue
        if (isReread && point.ts >= (this.reread?.startOf(point.key) ?? Infinity)) continue
        if (this.wants(point.key) && !this.isLate(point)) this.add(values, point.key, [point])
      }
      return values.size === 0 ? undefined : { kind: 'values', values }
    }
    if (change.kind !== 'telemetry-deleted' || isRead || isReread) return undefined
    // Whether somebody wrote the key anew before this was told is known to the store alone.
    if (change.remote === true) return 'unknown'
    const gone = change.keys.filter((key) => this.wants(key))
    for (const key of gone) this.newest.delete(key)
    return gone.length === 0 ? undefined : { kind: 'gone', values: emptied(gone) }
  }

  /** A window's snapshot holds what lies in the window; a point beside it would be shown by nobody. */
  private isInWindow(point: DataPoint): boolean {
    const { keys, window } = this.query
    return keys === undefined || window === undefined || (point.ts >= window.startTs && point.ts < window.endTs)
  }

  private wants(key: string): boolean {
    return this.keys === undefined || this.keys.has(key)
  }

  private isLate(point: DataPoint): boolean {
    return this.query.latestOnly && point.ts < (this.newest.get(point.key)?.[0] ?? -Infinity)
  }

  private add(values: Map<string, ShownValue[]>, key: string, points: readonly DataPoint[]): void {
    const list = values.get(key) ?? []
    let newest = this.newest.get(key)
    for (const point of points) {
      const value = [point.ts, valueText(point)] as const
      list.push(value)
      if (newest === undefined || point.ts >= newest[0]) newest = value
    }
    if (list.length === 0) return
    values.set(key, list)
    if (newest !== undefined) this.newest.set(key, newest)
  }
}

function isSame(shown: ShownValue | undefined, point: DataPoint): boolean {
  return shown?.[0] === point.ts && shown[1] === valueText(point)
}

export class AttributesSelection implements Selection {
  private readonly attributes: ReadServices['attributes']
  private readonly entity: EntityId
  private readonly scope: AttributeScope | undefined
  private readonly keys: readonly string[] | undefined
  private readonly wanted: ReadonlySet<string> | undefined
  /** What was shown last, by scope and key; bounded by the attributes of one entity. */
  private readonly shown = new Map<string, ShownAttribute>()
  private place = NOTHING_READ

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

  async read(): Promise<ShownValues> {
    const { value, ...place } = await this.attributes.find(this.entity, this.scope, this.keys)
    const values = new Map<string, ShownValue[]>()
    this.shown.clear()
    for (const attribute of value) this.add(values, attribute.scope, attribute)
    this.place = place
    return values
  }

  missed(): void {
    // All are read again.
  }

  async readAgain(): Promise<readonly Shown[]> {
    const { value, ...place } = await this.attributes.find(this.entity, this.scope, this.keys)
    const before = new Map(this.shown)
    this.shown.clear()
    const values = new Map<string, ShownValue[]>()
    for (const attribute of value) {
      const name = nameOf(attribute.scope, attribute.key)
      const known = before.get(name)
      before.delete(name)
      if (known === undefined || !isSameAttribute(known, attribute)) this.add(values, attribute.scope, attribute)
      else this.shown.set(name, known)
    }
    const gone = emptied([...before.values()].map(({ key }) => key))
    this.place = place
    return [
      ...(gone.size === 0 ? [] : [{ kind: 'gone' as const, values: gone }]),
      ...(values.size === 0 ? [] : [{ kind: 'values' as const, values }]),
    ]
  }

  show(change: Change): Shown | 'unknown' | undefined {
    if (isIn(change, this.place) || (change.kind !== 'attributes' && change.kind !== 'attributes-deleted'))
      return undefined
    if (this.scope !== undefined && change.scope !== this.scope) return undefined
    if (change.kind === 'attributes-deleted') {
      if (change.remote === true && change.keys.some((key) => this.wants(key))) return 'unknown'
      const gone = change.keys.filter((key) => this.wants(key))
      for (const key of gone) this.shown.delete(nameOf(change.scope, key))
      return gone.length === 0 ? undefined : { kind: 'gone', values: emptied(gone) }
    }
    if (change.audience === 'device' || change.audience === 'caches') return undefined
    // Two processes wrote it: which value stays is known to the store alone.
    if (change.remote === true && change.attributes.some((attribute) => this.isOlder(change.scope, attribute)))
      return 'unknown'
    const values = new Map<string, ShownValue[]>()
    for (const attribute of change.attributes) {
      if (!this.wants(attribute.key)) continue
      this.add(values, change.scope, attribute)
    }
    return values.size === 0 ? undefined : { kind: 'values', values }
  }

  private isOlder(scope: AttributeScope, { key, lastUpdateTs }: Attribute): boolean {
    return lastUpdateTs < (this.shown.get(nameOf(scope, key))?.lastUpdateTs ?? -Infinity)
  }

  private add(values: Map<string, ShownValue[]>, scope: AttributeScope, attribute: Attribute): void {
    const { key, lastUpdateTs } = attribute
    const text = valueText(attribute)
    this.shown.set(nameOf(scope, key), { key, lastUpdateTs, text })
    push(values, key, [lastUpdateTs, text])
  }

  private wants(key: string): boolean {
    return this.wanted === undefined || this.wanted.has(key)
  }
}

interface ShownAttribute {
  readonly key: string
  readonly lastUpdateTs: number
  readonly text: string
}

function nameOf(scope: AttributeScope, key: string): string {
  return `${scope} ${key}`
}

function isSameAttribute(known: ShownAttribute, attribute: Attribute): boolean {
  return known.lastUpdateTs === attribute.lastUpdateTs && known.text === valueText(attribute)
}

function emptied(keys: readonly string[]): ShownValues {
  return new Map(keys.map((key) => [key, [[0, '']]] as const))
}

export function push(values: Map<string, ShownValue[]>, key: string, value: ShownValue): void {
  const list = values.get(key)
  if (list === undefined) values.set(key, [value])
  else list.push(value)
}
