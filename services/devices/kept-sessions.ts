/**
 * Sessions of devices that outlive the process that has them, in the entity store. Those who connect together are looked up together; what is
 * only to be written soon is tried once, but a client's wish to have nothing of before until it is fulfilled.
 */
import type { Clock } from '../../model/clock.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import { entityId } from '../../model/entity-id.ts'
import type { KeptSessionRow, KeptSessionVersion } from '../../model/kept-session.ts'
import type { KeptSessionStore } from '../../engine/device/kept-session-store.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { Report } from '../changes/outbox.ts'
import { Sweeps } from '../cleanup/sweeps.ts'
import { itemNotFound } from '../errors.ts'

export interface KeptSessionsParts {
  readonly entities: Pick<EntityStore, 'deviceSessions' | 'devices' | 'write'>
  readonly clock: Clock
  readonly report: Report
}

const DEVICES_PER_READ = 256
const READS_AT_ONCE = 2
const MAX_PER_DEVICE = 2
const SWEEP_MS = 60_000
const PAUSE_MS = 1_000
const ROWS_PER_SWEEP = 500
/** Beyond it the store is away for long, and the session ends at its time. */
const MAX_UNWANTED = 10_000
/** Who comes while so many wait for the store is told that it does not answer. */
const MAX_ASKED = 20_000

/** A client that wants nothing of before. */
interface Wish {
  readonly deviceId: string
  readonly clientId: string
  /** Unix ms: what began later, at whichever process, is not meant. */
  readonly time: number
}

interface Asked {
  readonly deviceId: string
  readonly clientId: string
  readonly resolve: (session: KeptSessionRow | undefined) => void
  readonly reject: (error: unknown) => void
}

export class StoredKeptSessions implements KeptSessionStore {
  private readonly parts: KeptSessionsParts
  private readonly sweeps: Sweeps
  private asked: Asked[] = []
  private reads = 0
  private isPumpDue = false
  private complainedAt = -Infinity
  /** By device and client: to be removed, whatever the store says. */
  private readonly unwanted = new Map<string, Wish>()

  constructor(parts: KeptSessionsParts) {
    this.parts = parts
    this.sweeps = new Sweeps({
      ...{ clock: parts.clock, report: parts.report, intervalMs: SWEEP_MS, pauseMs: PAUSE_MS },
      failure: 'Sessions of devices whose time is over are not removed; it is tried again',
      sweep: () => this.sweep(),
    })
  }

  get waiting(): number {
    return this.asked.length + this.unwanted.size
  }

  start(): void {
    this.sweeps.start()
  }

  close(): Promise<void> {
    return this.sweeps.close()
  }

  async find(deviceId: string, clientId: string): Promise<KeptSessionRow | undefined> {
    const session = await this.lookUp(deviceId, clientId)
    if (session === undefined || this.unwanted.has(keyOf(deviceId, clientId))) return undefined
    return session.expiresTime > this.parts.clock.now() ? session : undefined
  }

  async save(session: KeptSessionRow): Promise<void> {
    const { entities, clock } = this.parts
    const { deviceId, clientId, tenantId } = session
    if (session.version > 1) {
      await entities.write([entities.deviceSessions.update(session)])
      return
    }
    // The new one takes the place of what nobody wants.
    this.unwanted.delete(keyOf(deviceId, clientId))
    const gone = () => itemNotFound(entityId('DEVICE', deviceId))
    await entities.write([
      entities.devices.requireTenant(deviceId, tenantId, gone),
      ...entities.deviceSessions.insert(session, clock.now(), MAX_PER_DEVICE),
    ])
  }

  isOvertaken(error: unknown): boolean {
    return isMillraceError(error) && error.code === 'entities.VERSION_CONFLICT'
  }

  async findOvertaken(sessions: readonly KeptSessionVersion[]): Promise<readonly KeptSessionVersion[]> {
    const versions = await this.parts.entities.deviceSessions.versionsOf(sessions.map(({ id }) => id))
    return sessions.filter(({ id, version }) => (versions.get(id) ?? Infinity) > version)
  }

  remove(session: KeptSessionVersion): void {
    this.writeSoon([this.parts.entities.deviceSessions.remove(session)])
  }

  removeOf(deviceId: string, clientId: string): void {
    const wish = { deviceId, clientId, time: this.parts.clock.now() }
    if (this.unwanted.size >= MAX_UNWANTED) return
    this.unwanted.set(keyOf(deviceId, clientId), wish)
    this.forget(wish).catch((error: unknown) =>
      this.complain('Sessions that their devices do not want are not removed yet; it is tried again', error),
    )
  }

  renew(sessions: readonly KeptSessionVersion[], from: number): void {
    this.writeSoon(this.parts.entities.deviceSessions.renew(sessions, from))
  }

  told(sessions: readonly KeptSessionVersion[], time: number): void {
    this.writeSoon(this.parts.entities.deviceSessions.told(sessions, time))
  }

  /** Removes a piece; whether there may be more. */
  async sweep(): Promise<boolean> {
    const { entities, clock } = this.parts
    const wishes = [...this.unwanted.values()].slice(0, ROWS_PER_SWEEP)
    await Promise.all(wishes.map((wish) => this.forget(wish)))
    const { results } = await entities.write([entities.deviceSessions.removeExpired(clock.now(), ROWS_PER_SWEEP)])
    return wishes.length >= ROWS_PER_SWEEP || results.some(({ changes }) => changes >= ROWS_PER_SWEEP)
  }

  private async forget(wish: Wish): Promise<void> {
    const { entities } = this.parts
    const key = keyOf(wish.deviceId, wish.clientId)
    const session = await this.lookUp(wish.deviceId, wish.clientId)
    // A new one may have come meanwhile.
    if (this.unwanted.get(key) !== wish) return
    if (session !== undefined) await entities.write([entities.deviceSessions.removeBegun(session.id, wish.time)])
    if (this.unwanted.get(key) === wish) this.unwanted.delete(key)
  }

  private lookUp(deviceId: string, clientId: string): Promise<KeptSessionRow | undefined> {
    if (this.asked.length >= MAX_ASKED)
      return Promise.reject(EntityStoreErrors.OVERLOADED({ waiting: this.asked.length, limit: MAX_ASKED }))
    return new Promise((resolve, reject) => {
      this.asked.push({ deviceId, clientId, resolve, reject })
      if (this.isPumpDue) return
      this.isPumpDue = true
      queueMicrotask(() => this.pump())
    })
  }

  private pump(): void {
    this.isPumpDue = false
    while (this.asked.length > 0 && this.reads < READS_AT_ONCE) {
      const batch = this.asked.slice(0, DEVICES_PER_READ)
      this.asked = this.asked.slice(DEVICES_PER_READ)
      this.reads++
      void this.read(batch)
    }
  }

  private async read(batch: readonly Asked[]): Promise<void> {
    try {
      const devices = [...new Set(batch.map(({ deviceId }) => deviceId))]
      const found = await this.parts.entities.deviceSessions.ofDevices(devices)
      const sessions = new Map(found.map((session) => [keyOf(session.deviceId, session.clientId), session]))
      for (const { deviceId, clientId, resolve } of batch) resolve(sessions.get(keyOf(deviceId, clientId)))
    } catch (error) {
      // Those who wait behind would each wait as long for the same.
      const waiting = this.asked
      this.asked = []
      for (const { reject } of [...batch, ...waiting]) reject(error)
    } finally {
      this.reads--
      this.pump()
    }
  }

  private writeSoon(statements: readonly Statement[]): void {
    if (statements.length === 0) return
    this.parts.entities
      .write(statements)
      .catch((error: unknown) =>
        this.complain('What became of sessions of devices is not written; they end at their time', error),
      )
  }

  /** One a minute: an outage concerns whoever connects. */
  private complain(text: string, error: unknown): void {
    const now = this.parts.clock.monotonic()
    if (now < this.complainedAt + SWEEP_MS) return
    this.complainedAt = now
    this.parts.report(text, { error: errorText(error) })
  }
}

function keyOf(deviceId: string, clientId: string): string {
  return `${deviceId} ${clientId}`
}
