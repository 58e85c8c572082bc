/**
 * Takes along the time series of a tenant, some points at a time, and brings them in again. Points that are there as they come are left alone: one
 * that was cut off goes on by beginning again, and no point is there twice.
 */
import { z } from 'zod'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import { stringifyJson } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { sameValue, type DataPoint } from '../../model/value.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { PointsWrite, TimeSeriesStore } from '../../storage/timeseries/store.ts'
import type { Changes } from '../changes/changes.ts'
import { DECLARED } from '../entities/declared.ts'
import type { PieceCounts, TransferPage } from './answers.ts'
import { TenantTransferErrors } from './errors.ts'
import { SERIES, seriesIn, seriesText, type SeriesRow } from './series-rows.ts'
import { NAMED, TAKEN, type TakenTable } from './tables.ts'

export interface SeriesTransferParts {
  readonly entities: EntityStore
  readonly timeSeries: TimeSeriesStore
  readonly changes: Changes
  readonly feed: ChangeFeed
}

/** What a page answers is bounded by these. */
const PAGE_CHARACTERS = 1 << 20
const PAGE_ENTITIES = 500
/** Of one read: what is held grows with the longest texts among them. */
const MAX_POINTS = 2_000
/** Until it is known how long they are. */
const FIRST_POINTS = 100
/** Characters of a point beside its value. */
const POINT_CHARACTERS = 32
/** Looked at side by side: most have nothing. */
const ENTITIES_AT_ONCE = 16
/** Written in one commit. */
const WRITE_POINTS = 10_000

const ALL_TIME = { startTs: -8.64e15, endTs: 8.64e15 + 1 } as const
const TENANT: TakenTable = {
  ...{ name: 'tenant', keys: ['id'], owner: { column: 'id', of: ['tenant'] } },
  ...{ matches: [], names: {}, parts: [], inside: {}, fresh: {} },
}
const OWNERS: readonly TakenTable[] = NAMED.map((name) => TAKEN.find((table) => table.name === name) ?? TENANT)

/** Behind an entity, or in one: from a key on, and of that from a time on. */
const placeSchema = z.union([
  z.tuple([z.string(), z.string()]),
  z.tuple([z.string(), z.string(), z.string(), z.number()]),
])
type Place = z.infer<typeof placeSchema>

interface Reading {
  readonly texts: string[]
  characters: number
  /** Of the next read. */
  limit: number
}

export class SeriesTransfer {
  private readonly parts: SeriesTransferParts

  constructor(parts: SeriesTransferParts) {
    this.parts = parts
  }

  /** The first one says how many entities are looked at, each one how many it has done. */
  async page(tenantId: string, after: string | undefined): Promise<TransferPage> {
    const { transferRows } = this.parts.entities
    const place = after === undefined ? undefined : placeIn(after)
    const reading: Reading = { texts: [], characters: 0, limit: FIRST_POINTS }
    let passed = 0
    const counts = place === undefined ? await Promise.all(OWNERS.map((of) => transferRows.count(of, tenantId))) : []
    const total = place === undefined ? { entities: counts.reduce((sum, count) => sum + count, 0) } : {}
    const stopped = (next: Place | undefined): TransferPage => ({
      ...{ rows: reading.texts, next: next && stringifyJson([...next]), passed },
      ...total,
    })
    const [start = TENANT.name, last = ''] = place ?? []
    let behind = last
    if (place?.length === 4) {
      const [table, id, key, ts] = place
      await this.ownEntity(tenantId, { of: table, entityId: id })
      const rest = await this.entity({ of: table, id, keys: await this.keysOf(id) }, reading, { key, ts })
      if (rest !== undefined) return stopped(rest)
      passed++
    }
    for (const owner of OWNERS.slice(OWNERS.indexOf(tableOf(start)))) {
      for (;;) {
        const ids = await transferRows.ids(owner, tenantId, behind, ENTITIES_AT_ONCE)
        const keys = await Promise.all(ids.map((id) => this.keysOf(id)))
        for (const [index, id] of ids.entries()) {
          const rest = await this.entity({ of: owner.name, id, keys: keys[index] ?? [] }, reading)
          if (rest !== undefined) return stopped(rest)
          passed++
          behind = id
        }
        if (ids.length < ENTITIES_AT_ONCE) break
        if (passed >= PAGE_ENTITIES) return stopped([owner.name, behind])
      }
      behind = ''
    }
    return stopped(undefined)
  }

  /** What bringing the points in would do; all are counted as points. */
  async plan(tenantId: string, texts: readonly string[]): Promise<PieceCounts> {
    const isComing = async ({ of, entityId: id }: SeriesRow) =>
      (await this.parts.entities.transferRows.find(tableOf(of).name, { id })) === undefined
    const { counts } = await this.compared(tenantId, texts, isComing)
    return counts
  }

  async apply(principal: Principal, tenantId: string, texts: readonly string[]): Promise<PieceCounts> {
    const { entities, changes } = this.parts
    const { counts, writes } = await this.compared(tenantId, texts)
    if (writes.length === 0) return counts
    const actionData = stringifyJson({ imported: SERIES, points: counts.created + counts.changed })
    const action = { actionType: 'UPDATED', entity: entityId('TENANT', tenantId), actionData } as const
    await entities.write([await changes.auditedAction({ ...principal, tenantId }, action)])
    let group: OwnedWrite[] = []
    let points = 0
    for (const write of writes) {
      group.push(write)
      points += write.points.length
      if (points < WRITE_POINTS) continue
      await this.write(group)
      group = []
      points = 0
    }
    if (group.length > 0) await this.write(group)
    return counts
  }

  private async write(group: readonly OwnedWrite[]): Promise<void> {
    const { timeSeries, feed } = this.parts
    const sequence = await timeSeries.write(group)
    for (const { entity, latest, points } of group)
      if (latest && feed.hasListeners(entity, 'telemetry'))
        feed.publish({ kind: 'telemetry', entity, sequence, points })
  }

  private keysOf(id: string): Promise<readonly string[]> {
    return this.parts.timeSeries.storedKeys(id)
  }

  /** Adds its series; answers where to go on when the page is full. */
  private async entity(
    { of, id, keys }: { readonly of: string; readonly id: string; readonly keys: readonly string[] },
    reading: Reading,
    from?: { readonly key: string; readonly ts: number },
  ): Promise<Place | undefined> {
    for (const key of keys) {
      if (from !== undefined && key < from.key) continue
      let ts: number = from?.key === key ? from.ts : ALL_TIME.startTs
      for (let isWhole = false; !isWhole;) {
        if (reading.characters >= PAGE_CHARACTERS) return [of, id, key, ts]
        const asked = reading.limit
        const points = await this.points(id, key, ts, reading)
        if (points === undefined) continue
        isWhole = points.length < asked
        const latest = isWhole ? (await this.parts.timeSeries.latest(id, [key])).value[0] : undefined
        if (points.length > 0 || latest !== undefined) add(reading, { of, entityId: id, key, points, latest })
        ts = (points.at(-1)?.ts ?? ts) + 1
      }
    }
    return undefined
  }

  /** Undefined where they are too many to be answered: fewer are asked for then. */
  private async points(
    id: string,
    key: string,
    startTs: number,
    reading: Reading,
  ): Promise<readonly DataPoint[] | undefined> {
    const { limit } = reading
    const query = { ...ALL_TIME, keys: [key], startTs, agg: 'NONE', limit, order: 'ASC' } as const
    try {
      return (await this.parts.timeSeries.history(id, query)).value.get(key) ?? []
    } catch (error) {
      const isTooBig = isMillraceError(error) && error.code.endsWith('.ANSWER_TOO_BIG')
      if (!isTooBig || limit === 1) throw error
      reading.limit = Math.ceil(limit / 4)
      return undefined
    }
  }

  /** `isComing`: whether it may be that the entity is not there yet. */
  private async compared(
    tenantId: string,
    texts: readonly string[],
    isComing: (row: SeriesRow) => Promise<boolean> = () => Promise.resolve(false),
  ) {
    const counts = { created: 0, changed: 0, same: 0 }
    const writes: OwnedWrite[] = []
    const owned = new Map<string, EntityId>()
    for (const text of texts) {
      const row = seriesIn(text)
      if (await isComing(row)) {
        counts.created += row.points.length
        continue
      }
      const name = `${row.of} ${row.entityId}`
      const entity = owned.get(name) ?? (await this.ownEntity(tenantId, row))
      owned.set(name, entity)
      const { points, latest } = await this.comparedRow(row, counts)
      const base = { entity, entityId: row.entityId, sequence: 0, ttlSeconds: 0 }
      if (points.length > 0) writes.push({ ...base, points, history: true, latest: false })
      if (latest !== undefined) writes.push({ ...base, points: [latest], history: false, latest: true })
    }
    return { counts, writes }
  }

  private async comparedRow(
    { entityId: id, key, points, latest }: SeriesRow,
    counts: { created: number; changed: number; same: number },
  ) {
    const there = await this.between(id, key, points)
    const other = points.filter((point) => {
      const found = there.get(point.ts)
      const how = found === undefined ? 'created' : sameValue(found, point) ? 'same' : 'changed'
      counts[how]++
      return how !== 'same'
    })
    const held = latest && (await this.parts.timeSeries.latest(id, [key])).value[0]
    const isNewer =
      latest !== undefined &&
      (held === undefined || held.ts < latest.ts || (held.ts === latest.ts && !sameValue(held, latest)))
    return { points: other, latest: isNewer ? latest : undefined }
  }

  /** What is there in the time of the points. */
  private async between(id: string, key: string, points: readonly DataPoint[]): Promise<Map<number, DataPoint>> {
    const there = new Map<number, DataPoint>()
    const wanted = new Set(points.map(({ ts }) => ts))
    const [first, last] = [points[0], points.at(-1)]
    if (first === undefined || last === undefined) return there
    const reading: Reading = { texts: [], characters: 0, limit: Math.max(points.length, FIRST_POINTS) }
    for (let ts = first.ts; ts <= last.ts;) {
      const asked = reading.limit
      const found = await this.points(id, key, ts, reading)
      if (found === undefined) continue
      for (const point of found) if (wanted.has(point.ts)) there.set(point.ts, point)
      if (found.length < asked) break
      ts = (found.at(-1)?.ts ?? ts) + 1
    }
    return there
  }

  private async ownEntity(
    tenantId: string,
    { of, entityId: id }: Pick<SeriesRow, 'of' | 'entityId'>,
  ): Promise<EntityId> {
    const { transferRows } = this.parts.entities
    const definition = DECLARED.find(({ storedAs }) => storedAs.name === of)
    if (definition === undefined) throw TenantTransferErrors.TABLE({ table: of })
    if (!(await transferRows.isOwned(tableOf(of), { id }, tenantId)))
      throw TenantTransferErrors.FOREIGN({ table: SERIES, column: 'entity_id', id })
    return entityId(definition.type, id)
  }
}

function tableOf(name: string): TakenTable {
  const table = OWNERS.find((owner) => owner.name === name)
  if (table === undefined) throw TenantTransferErrors.TABLE({ table: name })
  return table
}

interface OwnedWrite extends PointsWrite {
  readonly entity: EntityId
}

function add(reading: Reading, row: SeriesRow): void {
  const text = seriesText(row)
  reading.texts.push(text)
  reading.characters += text.length
  const average = Math.max(POINT_CHARACTERS, text.length / Math.max(1, row.points.length))
  reading.limit = Math.min(MAX_POINTS, Math.max(1, Math.floor(PAGE_CHARACTERS / 4 / average)))
}

function placeIn(text: string): Place {
  try {
    return placeSchema.parse(JSON.parse(text))
  } catch (error) {
    throw TenantTransferErrors.ROW({ table: SERIES, reason: 'keys are expected' }, error)
  }
}
