/**
 * What one subscription shows of an entity: how its snapshot is read, and which parts of a change it shows. A selection is
 * the pure part of a subscription; order and timing are `subscription.ts`'s.
 */
import type { EntityId } from '../../model/entity-id.ts'
import { valueText } from '../../model/entry-json.ts'
import type { Attribute, AttributeScope, DataPoint } from '../../model/value.ts'
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

/**
 * Whether what was read may hold a change already, though no sequence says so: `remote` for one that another process told, `replayed`
 * for one that came while something was read. What is shown already is then left out.
 */
export type DuplicateRisk = 'none' | 'remote' | 'replayed'

export interface Selection {
  read(): Promise<SelectionSnapshot>
  /** Reads what may have been missed: all that differs from what was shown last. */
  readAgain(): Promise<readonly Shown[]>
  /** Undefined where the change has nothing of it. `inSnapshot`: the snapshot was read after the change was committed. */
  show(change: Change, inSnapshot: boolean, duplicateRisk: DuplicateRisk): Shown | undefined
  /** What came while something was read has been shown. */
  followed(): void
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
  /** What was read last, until all that came meanwhile is shown. */
  private justRead: ShownValues | undefined

  constructor(telemetry: ReadServices['telemetry'], query: TimeSeriesQuery) {
    this.telemetry = telemetry
    this.query = query
    this.keys = query.keys === undefined ? undefined : new Set(query.keys)
  }

  async read(): Promise<SelectionSnapshot> {
    const snapshot = await this.readSnapshot()
    this.justRead = snapshot.values
    return snapshot
  }

  followed(): void {
    this.justRead = undefined
  }

  async readAgain(): Promise<readonly Shown[]> {
    const { entity, keys, window } = this.query
    const { value } = await this.telemetry.latest(entity, keys)
    const changed = value.filter((point) => !isSame(this.newest.get(point.key), point))
    const values = new Map<string, ShownValue[]>()
    if (window !== undefined && changed.length > 0) await this.addMissed(values, changed)
    for (const point of changed) if (!isSame(this.newest.get(point.key), point)) this.add(values, point.key, [point])
    this.justRead = values
    const shown: Shown[] = values.size === 0 ? [] : [{ kind: 'values', values }]
    if (window === undefined) {
      const present = new Set(value.map(({ key }) => key))
      const gone = [...this.newest.keys()].filter((key) => !present.has(key))
      for (const key of gone) this.newest.delete(key)
      if (gone.length > 0) shown.push({ kind: 'gone', values: emptied(gone) })
    }
    return shown
  }

  /** Points behind the newest shown one of each key: a chart shows them all. */
  private async addMissed(values: Map<string, ShownValue[]>, changed: readonly DataPoint[]): Promise<void> {
    const keys = changed.filter(({ key }) => this.newest.has(key)).map(({ key }) => key)
    if (keys.length === 0) return
    const startTs = Math.min(...keys.map((key) => this.newest.get(key)?.[0] ?? Infinity))
    const endTs = Math.max(...changed.map(({ ts }) => ts)) + 1
    const { value } = await this.telemetry.history(this.query.entity, { keys, startTs, endTs, limit: MISSED_LIMIT })
    for (const [key, points] of value) {
      const newest = this.newest.get(key)?.[0] ?? -Infinity
      this.add(
        values,
        key,
        points.filter(({ ts }) => ts > newest),
      )
    }
  }

  private async readSnapshot(): Promise<SelectionSnapshot> {
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

  show(change: Change, inSnapshot: boolean, duplicateRisk: DuplicateRisk): Shown | undefined {
    if (change.kind === 'telemetry') {
      const values = new Map<string, ShownValue[]>()
      for (const point of change.points) {
        if (inSnapshot && this.coveredBySnapshot(point)) continue
        if (duplicateRisk !== 'none' && this.isShown(point, duplicateRisk)) continue
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

  private isShown(point: DataPoint, duplicateRisk: DuplicateRisk): boolean {
    const newest = this.newest.get(point.key)
    if (isSame(newest, point)) return true
    if (duplicateRisk === 'remote') return false
    // Latest values were read after it came: an older one is no news.
    if (this.query.window === undefined && newest !== undefined && point.ts < newest[0]) return true
    return this.justRead?.get(point.key)?.some((value) => isSame(value, point)) === true
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
    this.shown.clear()
    for (const attribute of value) this.add(values, attribute.scope, attribute)
    return { values, sequence }
  }

  async readAgain(): Promise<readonly Shown[]> {
    const { value } = await this.attributes.find(this.entity, this.scope, this.keys)
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
    return [
      ...(gone.size === 0 ? [] : [{ kind: 'gone' as const, values: gone }]),
      ...(values.size === 0 ? [] : [{ kind: 'values' as const, values }]),
    ]
  }

  followed(): void {
    // What was read is all in what is shown.
  }

  show(change: Change, inSnapshot: boolean, duplicateRisk: DuplicateRisk): Shown | undefined {
    if (inSnapshot || (change.kind !== 'attributes' && change.kind !== 'attributes-deleted')) return undefined
    if (this.scope !== undefined && change.scope !== this.scope) return undefined
    if (change.kind === 'attributes-deleted') {
      const gone = change.keys.filter((key) => this.wants(key))
      for (const key of gone) this.shown.delete(nameOf(change.scope, key))
      return gone.length === 0 ? undefined : { kind: 'gone', values: emptied(gone) }
    }
    if (change.audience === 'device' || change.audience === 'caches') return undefined
    const values = new Map<string, ShownValue[]>()
    for (const attribute of change.attributes) {
      if (!this.wants(attribute.key)) continue
      if (duplicateRisk !== 'none' && this.isKnown(change.scope, attribute)) continue
      this.add(values, change.scope, attribute)
    }
    return values.size === 0 ? undefined : { kind: 'values', values }
  }

  /** Shown already, or older than what is. */
  private isKnown(scope: AttributeScope, attribute: Attribute): boolean {
    const known = this.shown.get(nameOf(scope, attribute.key))
    if (known === undefined) return false
    return attribute.lastUpdateTs < known.lastUpdateTs || isSameAttribute(known, attribute)
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
