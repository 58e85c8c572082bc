/**
 * What each integration received, stored and failed. Counted in memory, kept as a server attribute of the integration (one for each process,
 * `figures.<name of the process>`) so that they outlast it and are seen from any process, and told as events.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { entityId } from '../../model/entity-id.ts'
import { errorText, type MillraceError } from '../../model/errors.ts'
import { isJsonObject, parseJson, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { AttributeService } from '../attributes/attribute-service.ts'
import type { Integration } from '../entities/integration.ts'
import { NotedChainEvents } from '../events/chain-events.ts'
import type { EventWriter } from '../events/event-writer.ts'
import type { Report } from '../changes/outbox.ts'

export type IntegrationState = 'STOPPED' | 'CONNECTING' | 'RUNNING' | 'FAILED'

export interface FigureBookParts {
  readonly attributes: Pick<AttributeService, 'find' | 'save'>
  readonly events: Pick<EventWriter, 'add'>
  readonly clock: Clock
  readonly report: Report
  /** The name of this process: the same after a restart. */
  readonly server: string
}

const PREFIX = 'figures.'
const WRITE_MS = 2000
const MAX_CHARACTERS = 1000
const COUNTS = ['received', 'receivedBytes', 'stored', 'failed', 'delayed'] as const
type Count = (typeof COUNTS)[number]

export class FigureBook {
  private readonly parts: FigureBookParts
  private readonly kept = new Map<string, IntegrationFigures>()
  private readonly failures: NotedChainEvents
  private timer: TimerHandle | undefined
  private writing: Promise<void> = Promise.resolve()

  constructor(parts: FigureBookParts) {
    this.parts = parts
    this.failures = new NotedChainEvents(parts.events, parts.clock, () => undefined)
  }

  of({ id, tenantId }: Pick<Integration, 'id' | 'tenantId'>): IntegrationFigures {
    let figures = this.kept.get(id)
    if (figures === undefined) {
      const entity = entityId('INTEGRATION', id)
      figures = new IntegrationFigures(this.parts.clock, {
        changed: () => (this.timer ??= this.parts.clock.after(WRITE_MS, () => void this.flush())),
        failed: (error) => this.failures.failed(tenantId, entity, 'convert', cut(error)),
        stepped: (event, error) =>
          this.parts.events.add({
            ...{ type: 'LC_EVENT', tenantId, entity },
            body: { event, success: error === undefined, error },
          }),
        tenantId,
      })
      this.kept.set(id, figures)
    }
    return figures
  }

  forget(id: string): void {
    this.kept.delete(id)
  }

  forgetTenant(tenantId: string): void {
    for (const [id, figures] of this.kept) if (figures.tenantId === tenantId) this.kept.delete(id)
  }

  /** Of all processes together. `state` and the last error are the newest. */
  async sum({ id, enabled }: Pick<Integration, 'id' | 'enabled'>): Promise<JsonObject> {
    await this.flush()
    const { value } = await this.parts.attributes.find(entityId('INTEGRATION', id), 'SERVER_SCOPE', undefined)
    const sum: Record<string, JsonValue> = { state: 'STOPPED', lastError: null, lastErrorTs: null, progress: null }
    for (const count of COUNTS) sum[count] = 0
    const rows = value
      .filter(({ key, type }) => key.startsWith(PREFIX) && type === 'JSON')
      .map((row) => objectOf(parseJson(String(row.value))))
    for (const row of rows.toSorted((one, other) => numberOf(one['ts']) - numberOf(other['ts']))) {
      for (const count of COUNTS) sum[count] = numberOf(sum[count]) + numberOf(row[count])
      if (typeof row['state'] === 'string' && row['state'] !== 'STOPPED') sum['state'] = row['state']
      if ((row['progress'] ?? null) !== null) sum['progress'] = row['progress'] ?? null
      if (numberOf(row['lastErrorTs']) < numberOf(sum['lastErrorTs'] ?? 0) || (row['lastError'] ?? null) === null)
        continue
      sum['lastError'] = row['lastError'] ?? null
      sum['lastErrorTs'] = row['lastErrorTs'] ?? null
    }
    // Of a webhook nobody stops anything, and a process that is gone said nothing of its end.
    if (!enabled) sum['state'] = 'STOPPED'
    return sum
  }

  /** Resolves when what was counted before is kept, or could not be: then it is tried with what comes next. */
  async flush(): Promise<void> {
    this.timer?.cancel()
    this.timer = undefined
    const write = this.writing.then(() => this.write())
    this.writing = write
    await write
  }

  async close(): Promise<void> {
    await this.flush()
    this.timer?.cancel()
  }

  private async write(): Promise<void> {
    for (const [id, figures] of this.kept) {
      if (!figures.isChanged) continue
      try {
        await this.writeOne(id, figures)
      } catch (error) {
        this.parts.report('Figures of an integration are not stored', { id, error: errorText(error) })
      }
    }
  }

  private async writeOne(id: string, figures: IntegrationFigures): Promise<void> {
    const { attributes, server } = this.parts
    const entity = entityId('INTEGRATION', id)
    const key = `${PREFIX}${server}`
    if (!figures.isLoaded) {
      const [former] = (await attributes.find(entity, 'SERVER_SCOPE', [key])).value
      figures.load(former?.type === 'JSON' ? objectOf(parseJson(former.value)) : {})
    }
    await attributes.save({
      ...{ tenantId: figures.tenantId, entity, isOwn: true, scope: 'SERVER_SCOPE', sequence: 0 },
      entries: [{ key, type: 'JSON', value: stringifyJson(figures.take()) }],
      ...{ store: true, notify: true, notifyDevice: false },
    })
  }
}

interface Told {
  readonly tenantId: string
  changed(): void
  failed(error: MillraceError): void
  stepped(event: string, error: string | undefined): void
}

export class IntegrationFigures {
  isChanged = false
  isLoaded = false
  private readonly clock: Clock
  private readonly told: Told
  private readonly counts: Record<Count, number> = { received: 0, receivedBytes: 0, stored: 0, failed: 0, delayed: 0 }
  private state: IntegrationState = 'STOPPED'
  private lastError: string | null = null
  private lastErrorTs: number | null = null
  private progressJson: JsonValue = null

  constructor(clock: Clock, told: Told) {
    this.clock = clock
    this.told = told
  }

  get tenantId(): string {
    return this.told.tenantId
  }

  received(bytes: number): void {
    this.counts.received++
    this.counts.receivedBytes += bytes
    this.change()
  }

  stored(): void {
    this.counts.stored++
    this.change()
  }

  /** For good. */
  failed(error: MillraceError): void {
    this.counts.failed++
    this.note(error)
    this.told.failed(error)
  }

  /** To be offered again. */
  delayed(error: MillraceError): void {
    this.counts.delayed++
    this.note(error)
  }

  is(state: IntegrationState, error?: Error): void {
    this.state = state
    if (error !== undefined) this.note(error)
    this.change()
  }

  stepped(event: 'STARTED' | 'UPDATED' | 'STOPPED', error?: Error): void {
    this.told.stepped(event, error && cut(error))
  }

  progress(json: JsonValue): void {
    this.progressJson = json
    this.change()
  }

  /** Adds what a former run of this process counted. */
  load(former: JsonObject): void {
    this.isLoaded = true
    for (const count of COUNTS) this.counts[count] += numberOf(former[count])
    if (this.lastError === null && typeof former['lastError'] === 'string') {
      this.lastError = former['lastError']
      this.lastErrorTs = numberOf(former['lastErrorTs'])
    }
  }

  take(): JsonObject {
    this.isChanged = false
    const { counts, state, lastError, lastErrorTs, progressJson: progress } = this
    return { ...counts, state, lastError, lastErrorTs, progress, ts: this.clock.now() }
  }

  private note(error: Error): void {
    this.lastError = cut(error)
    this.lastErrorTs = this.clock.now()
    this.change()
  }

  private change(): void {
    this.isChanged = true
    this.told.changed()
  }
}

function cut(error: Error): string {
  return errorText(error).slice(0, MAX_CHARACTERS)
}

function objectOf(value: JsonValue): JsonObject {
  return isJsonObject(value) ? value : {}
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0
}
