/**
 * Which tenants had a device before: what messages of theirs, queued before it moved, still ask for is refused. Each process holds all
 * moves in memory, so that rule nodes ask at no cost where nothing moved. Another process hears of a move within the delay of the feed.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { errorText } from '../../model/errors.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { itemNotFound } from '../errors.ts'
import type { Report } from '../changes/outbox.ts'

export interface MovedDevicesParts {
  readonly entities: EntityStore
  readonly feed: ChangeFeed
  readonly clock: Clock
  readonly report: Report
}

const MOVES_PER_READ = 1_000
const AGAIN_MS = 5_000

export class MovedDevices {
  private readonly parts: MovedDevicesParts
  private byDevice = new Map<string, readonly string[]>()
  /** Read again before anything else. */
  private isAllInDoubt = false
  private readonly inDoubt = new Set<string>()
  private reading: Promise<void> | undefined
  private again: TimerHandle | undefined
  private stops: readonly (() => void)[] = []
  private isClosed = false

  constructor(parts: MovedDevicesParts) {
    this.parts = parts
  }

  /** Resolves when every move of before is known; rejects where they can not be read. */
  async start(): Promise<void> {
    const { feed } = this.parts
    this.stops = [
      feed.listenToAll(['device-changed'], ({ entity: { id }, hasMoved }) => {
        if (hasMoved === true) this.look(id)
      }),
      feed.listenToAll(['entity-deleted'], ({ entity }) => this.forget(entity)),
      feed.onGap(() => {
        this.isAllInDoubt = true
        this.lookAgain()
      }),
    ]
    await feed.settled()
    await this.readAll()
  }

  get size(): number {
    return this.byDevice.size
  }

  isFormer(tenantId: string, { entityType, id }: EntityId): boolean {
    if (this.byDevice.size === 0 || entityType !== 'DEVICE') return false
    return this.byDevice.get(id)?.includes(tenantId) === true
  }

  /** Throws `ITEM_NOT_FOUND` where the device was the tenant's and is another's now. */
  check(tenantId: string, entity: EntityId): void {
    if (this.isFormer(tenantId, entity)) throw itemNotFound(entity)
  }

  /** Resolves when every move that was heard of is known. */
  async settled(): Promise<void> {
    while (this.reading !== undefined) await this.reading
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.again?.cancel()
    for (const stop of this.stops) stop()
    await this.settled()
  }

  private look(deviceId: string): void {
    this.inDoubt.add(deviceId)
    this.lookAgain()
  }

  private forget({ entityType, id }: EntityId): void {
    if (entityType === 'DEVICE') this.byDevice.delete(id)
    if (entityType !== 'TENANT') return
    for (const [deviceId, tenants] of this.byDevice) if (tenants.includes(id)) this.look(deviceId)
  }

  private lookAgain(): void {
    if (this.isClosed) return
    this.again?.cancel()
    this.again = undefined
    this.reading ??= this.readDoubted()
      .catch((error: unknown) => {
        this.parts.report('Moves of devices to other tenants are not known yet; trying again', {
          error: errorText(error),
        })
        this.again = this.parts.clock.after(AGAIN_MS, () => this.lookAgain())
      })
      .finally(() => {
        this.reading = undefined
      })
  }

  private async readDoubted(): Promise<void> {
    for (;;) {
      if (this.isAllInDoubt) await this.readAll()
      const [deviceId] = this.inDoubt
      if (deviceId === undefined) return
      this.inDoubt.delete(deviceId)
      try {
        this.set(deviceId, await this.parts.entities.movedDevices.formerTenantsOf(deviceId))
      } catch (error) {
        this.inDoubt.add(deviceId)
        throw error
      }
    }
  }

  private async readAll(): Promise<void> {
    this.isAllInDoubt = false
    try {
      const found = new Map<string, readonly string[]>()
      for (let after = ''; ;) {
        const moves = await this.parts.entities.movedDevices.behind(after, MOVES_PER_READ)
        for (const { deviceId, formerTenantId } of moves)
          found.set(deviceId, [...(found.get(deviceId) ?? []), formerTenantId])
        const last = moves.at(-1)
        if (last === undefined) break
        after = last.id
      }
      this.byDevice = found
    } catch (error) {
      this.isAllInDoubt = true
      throw error
    }
  }

  private set(deviceId: string, tenants: readonly string[]): void {
    if (tenants.length === 0) this.byDevice.delete(deviceId)
    else this.byDevice.set(deviceId, tenants)
  }
}
