/**
 * Writes events many at a time. They are diagnostics: what is beyond the room in memory, or beyond a tenant's part of it, is dropped and counted,
 * and messages never wait for them. Texts are cut, and debug events of a tenant bounded by the hour, those of nodes and of calculated fields apart,
 * with one event that says so.
 */
import type { Clock, Random, TimerHandle } from '../../model/clock.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { errorText } from '../../model/errors.ts'
import type { EventBody, EventRecord, EventType } from '../../model/event.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { Report } from '../changes/outbox.ts'

export interface EventWriterSettings {
  /** Characters of a text that are kept. */
  readonly maxText: number
  /** Debug events of a tenant in a window; 0 is no limit. */
  readonly debugEvents: number
  readonly debugWindowMs: number
  /** Of what waits in memory; a tenant has a part of it. */
  readonly maxWaitingBytes: number
  readonly tenantPart: number
}

export const DEFAULT_EVENT_WRITER_SETTINGS: EventWriterSettings = {
  maxText: 4096,
  debugEvents: 50_000,
  debugWindowMs: 3_600_000,
  maxWaitingBytes: 16 * 2 ** 20,
  tenantPart: 0.25,
}

export interface EventWriterParts {
  readonly entities: Pick<EntityStore, 'events'>
  readonly clock: Clock
  readonly random: Random
  readonly report: Report
  /** The name of this process. */
  readonly server: string
  readonly settings: EventWriterSettings
}

export interface EventFigures {
  readonly written: number
  /** There was no room for them in memory. */
  readonly droppedForRoom: number
  /** Their tenant had more of them than the hour allows. */
  readonly droppedForRate: number
  /** The store refused them. */
  readonly droppedByStore: number
  readonly waitingBytes: number
}

export interface NewEvent {
  readonly type: EventType
  readonly tenantId: string
  readonly entity: EntityId
  readonly body: EventBody
}

interface Window {
  readonly until: number
  count: number
}

/** The event that says that there are no more of a type for now, and its member that says it. */
interface ToldOfRate {
  readonly type: EventType
  readonly member: 'message' | 'error'
}

/** Of the types whose rate is bounded. */
const TOLD_OF_RATE: Partial<Readonly<Record<EventType, ToldOfRate>>> = {
  DEBUG_RULE_NODE: { type: 'DEBUG_RULE_CHAIN', member: 'message' },
  DEBUG_CALCULATED_FIELD: { type: 'DEBUG_CALCULATED_FIELD', member: 'error' },
}

const FLUSH_MS = 200
const MAX_IN_TRANSACTION = 1_000
/** Of a row beside its texts. */
const ROW_BYTES = 400
const TENANTS_WATCHED = 10_000

export class EventWriter {
  private readonly parts: EventWriterParts
  private waiting: EventRecord[] = []
  private waitingBytes = 0
  private readonly bytesOfTenants = new Map<string, number>()
  private readonly windows = new Map<string, Window>()
  private timer: TimerHandle | undefined
  private writing: Promise<void> | undefined
  private isClosed = false
  private added = 0
  private written = 0
  /** Rows by type and tenant since they were asked for. */
  private readonly writtenOf = new Map<EventType, Map<string, number>>()
  private droppedForRoom = 0
  private droppedForRate = 0
  private droppedByStore = 0

  constructor(parts: EventWriterParts) {
    this.parts = parts
  }

  add(event: NewEvent): void {
    if (this.isClosed) return
    const told = TOLD_OF_RATE[event.type]
    if (told === undefined || this.isWithinRate(event, told)) this.keep(event)
  }

  private keep(event: NewEvent): void {
    const { clock, random, server, settings } = this.parts
    const now = clock.now()
    const body = cut(event.body, settings.maxText)
    const bytes = sizeOf(body)
    const own = (this.bytesOfTenants.get(event.tenantId) ?? 0) + bytes
    const isFull = this.waitingBytes + bytes > settings.maxWaitingBytes
    if (isFull || own > settings.maxWaitingBytes * settings.tenantPart) {
      this.droppedForRoom++
      return
    }
    this.waitingBytes += bytes
    this.bytesOfTenants.set(event.tenantId, own)
    this.waiting.push({ ...event, body, id: orderedId(now, this.added++, random.uuid()), createdTime: now, server })
    if (this.writing === undefined) this.timer ??= clock.after(FLUSH_MS, () => void this.flush())
  }

  /** Resolves when all that was added before is stored, or dropped. */
  async flush(): Promise<void> {
    this.timer?.cancel()
    this.timer = undefined
    while (this.waiting.length > 0) await (this.writing ??= this.writeSome())
    await this.writing
  }

  /** How many rows of the type were written for whom, since the last call. */
  takeWritten(type: EventType): ReadonlyMap<string, number> {
    const written = this.writtenOf.get(type) ?? new Map<string, number>()
    this.writtenOf.delete(type)
    return written
  }

  figures(): EventFigures {
    const { written, droppedForRoom, droppedForRate, droppedByStore, waitingBytes } = this
    return { written, droppedForRoom, droppedForRate, droppedByStore, waitingBytes }
  }

  /** Stores what waits, and takes nothing more. Idempotent. */
  async close(): Promise<void> {
    this.isClosed = true
    await this.flush()
  }

  private async writeSome(): Promise<void> {
    const events = this.waiting.slice(0, MAX_IN_TRANSACTION)
    this.waiting = this.waiting.slice(MAX_IN_TRANSACTION)
    try {
      await this.parts.entities.events.add(events)
      this.written += events.length
      for (const event of events) this.noteWritten(event)
    } catch (error) {
      this.droppedByStore += events.length
      this.parts.report('Events are not stored', { events: events.length, error: errorText(error) })
    } finally {
      for (const event of events) this.release(event)
      this.writing = undefined
    }
  }

  private noteWritten({ type, tenantId }: EventRecord): void {
    const ofType = this.writtenOf.get(type) ?? new Map<string, number>()
    this.writtenOf.set(type, ofType.set(tenantId, (ofType.get(tenantId) ?? 0) + 1))
  }

  private release({ tenantId, body }: EventRecord): void {
    const bytes = sizeOf(body)
    this.waitingBytes -= bytes
    const own = (this.bytesOfTenants.get(tenantId) ?? 0) - bytes
    if (own > 0) this.bytesOfTenants.set(tenantId, own)
    else this.bytesOfTenants.delete(tenantId)
  }

  private isWithinRate({ type, tenantId, entity }: NewEvent, told: ToldOfRate): boolean {
    const { debugEvents, debugWindowMs } = this.parts.settings
    if (debugEvents === 0) return true
    const now = this.parts.clock.now()
    const key = `${type} ${tenantId}`
    let window = this.windows.get(key)
    if (window === undefined || window.until <= now) {
      if (this.windows.size >= TENANTS_WATCHED) this.windows.clear()
      this.windows.set(key, (window = { until: now + debugWindowMs, count: 0 }))
    }
    if (++window.count <= debugEvents) return true
    this.droppedForRate++
    if (window.count === debugEvents + 1) {
      const text = `Reached debug mode rate limit: ${debugEvents} events in ${debugWindowMs / 1000} s`
      this.keep({ type: told.type, tenantId, entity, body: { [told.member]: text } })
    }
    return false
  }
}

/** A UUID of version 7: within a millisecond in the order in which events were noted, so that they are read as they happened. */
function orderedId(time: number, added: number, uuid: string): string {
  const at = time.toString(16).padStart(12, '0').slice(-12)
  const count = (added % 0x100_0000).toString(16).padStart(6, '0')
  return `${at.slice(0, 8)}-${at.slice(8)}-7${count.slice(0, 3)}-8${count.slice(3)}-${uuid.slice(24)}`
}

function cut(body: EventBody, maxText: number): EventBody {
  const shortened = Object.entries(body).map(([member, value]) => [
    member,
    typeof value === 'string' && value.length > maxText
      ? `${value.slice(0, maxText)}...[truncated ${value.length - maxText} symbols]`
      : value,
  ])
  return Object.fromEntries(shortened) as EventBody
}

function sizeOf(body: EventBody): number {
  let bytes = ROW_BYTES
  for (const value of Object.values(body)) if (typeof value === 'string') bytes += value.length * 2
  return bytes
}
