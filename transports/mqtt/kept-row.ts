/**
 * What the store has of one session, and the writes under way. In order, each a version more: one of another process in between makes the next
 * one fail, and the session is that process's.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../model/clock.ts'
import type { KeptSessionRow } from '../../model/kept-session.ts'
import type { DeviceIdentity, KeptSessionStore } from '../../engine/device/gateway.ts'

/** A session whose client is here is written to be here until twice this time is over, so that one whose process died has its time yet. */
export const RENEW_MS = 60_000

/** Of a client that is told something in time, whatever the store does. */
export const storeIsSilent = (): Error => new Error('The store of sessions does not answer')

export class KeptRow {
  /** As it was given to the store last; undefined where nothing was. */
  row: KeptSessionRow | undefined
  /** Whether the store has one. */
  isStored = false
  /** As the store was asked to write it last, where `row` may be still to come. */
  private asked: KeptSessionRow | undefined
  private readonly store: KeptSessionStore
  private readonly clock: Clock
  private writing: Promise<void> = Promise.resolve()
  private writes = 0
  private isOver = false

  constructor(store: KeptSessionStore, clock: Clock, row: KeptSessionRow | undefined) {
    this.store = store
    this.clock = clock
    this.row = row
    this.asked = row
    this.isStored = row !== undefined
  }

  /** Whether the store has no newer one, where `row` is what it has. */
  isAsIn(row: KeptSessionRow | undefined): boolean {
    if (row === undefined) return !this.isStored
    return row.id === this.row?.id && row.version <= this.row.version
  }

  get isWriting(): boolean {
    return this.writes > 0
  }

  /** Whether the store has, or is to have, just that. */
  has(subscriptions: string): boolean {
    return this.writes === 0 && (this.row?.subscriptions ?? '[]') === subscriptions
  }

  /** `from`, Unix ms: the time of absence counts from then on. Resolves once it is durable. */
  write(
    { deviceId, tenantId }: DeviceIdentity,
    clientId: string,
    change: {
      readonly subscriptions: string
      readonly expirySeconds: number
      readonly from: number
      readonly told: boolean
    },
  ): Promise<void> {
    const { subscriptions, expirySeconds, from, told } = change
    const before = this.row
    const row: KeptSessionRow = {
      id: before?.id ?? randomUUID(),
      version: (before?.version ?? 0) + 1,
      ...{ tenantId, deviceId, clientId, subscriptions, expirySeconds },
      toldTime: told || before === undefined ? this.clock.now() : before.toldTime,
      expiresTime: from + expirySeconds * 1000,
    }
    this.row = row
    this.writes++
    this.writing = this.writing
      .then(() => {
        if (this.isOver) return undefined
        this.asked = row
        return this.store.save(row)
      })
      .then(() => {
        this.isStored = true
      })
      .finally(() => this.writes--)
    return this.writing
  }

  told(time: number): void {
    if (this.row !== undefined) this.row = { ...this.row, toldTime: time }
  }

  /** Behind what is under way. */
  remove(): void {
    this.isOver = true
    const { asked } = this
    this.row = undefined
    this.isStored = false
    if (asked === undefined) return
    const remove = (): void => this.store.remove(asked)
    this.writing.then(remove, remove)
  }

  /** Nothing more is written. */
  leave(): void {
    this.isOver = true
  }
}
