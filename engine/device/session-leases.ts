/**
 * Announces the devices of this process to their owners: at once what sessions they have where that changed, every few seconds those that
 * were heard without sending a message, and once a lease interval all of them. Nobody waits for it: what is lost is told again.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type { AnnouncedDevice, DeviceLine } from './announcement.ts'
import type { DeviceRecord } from './device-record.ts'
import type { PartitionOwners } from './partition-owners.ts'
import { MAX_PER_TURN, Rounds } from './slices.ts'

export interface LeaseSettings {
  /** How often each device is announced; its sessions count as gone when the owner has heard nothing for three of these. */
  readonly leaseIntervalMs: number
  /** How often what devices did is written down: the last time of each period. */
  readonly activityReportMs: number
}

export interface SessionLeasesOptions {
  readonly line: DeviceLine
  readonly owners: PartitionOwners
  readonly clock: Clock
  readonly settings: LeaseSettings
  readonly records: ReadonlyMap<string, DeviceRecord>
  /** Each record in its turn, before it is announced; false where it is not to be announced any more. */
  readonly isKept: (record: DeviceRecord) => boolean
}

export class SessionLeases {
  private readonly options: SessionLeasesOptions
  private readonly rounds: Rounds<DeviceRecord>
  private changed: DeviceRecord[] = []
  private touched: DeviceRecord[] = []
  private touchTimer: TimerHandle | undefined
  private isTurnAsked = false
  private readonly renewing: DeviceRecord[] = []

  constructor(options: SessionLeasesOptions) {
    this.options = options
    const { clock, settings, records } = options
    this.rounds = new Rounds(clock, settings.leaseIntervalMs, records, (record) => this.renew(record))
  }

  /** Its sessions changed: told at the end of the turn. */
  sessionsChanged(record: DeviceRecord): void {
    record.announcedAt = this.options.clock.now()
    this.changed.push(record)
    this.askTurn()
  }

  /** It was heard, and no message says so. */
  touch(record: DeviceRecord): void {
    if (record.isTouched) return
    const { clock, settings } = this.options
    // The first after a silence is told at once: it may be news.
    if (clock.now() >= record.announcedAt + settings.activityReportMs) return this.sessionsChanged(record)
    record.isTouched = true
    this.touched.push(record)
    this.armTouches()
  }

  /** Tells what is untold, and nothing any more by itself. */
  close(): void {
    this.rounds.close()
    this.touchTimer?.cancel()
    this.announce([...new Set([...this.changed, ...this.touched])])
    this.changed = []
    this.touched = []
  }

  private renew(record: DeviceRecord): void {
    if (!this.options.isKept(record)) return
    this.renewing.push(record)
    this.askTurn()
  }

  private askTurn(): void {
    if (this.isTurnAsked) return
    this.isTurnAsked = true
    this.options.clock.soon(() => {
      this.isTurnAsked = false
      this.announce(this.changed.splice(0, MAX_PER_TURN).concat(this.renewing))
      this.renewing.length = 0
      if (this.changed.length > 0) this.askTurn()
    })
  }

  private armTouches(): void {
    const { clock, settings } = this.options
    this.touchTimer ??= clock.after(settings.activityReportMs, () => {
      this.touchTimer = undefined
      this.tellTouched()
    })
  }

  private tellTouched(): void {
    const records = this.touched.splice(0, MAX_PER_TURN)
    for (const record of records) record.isTouched = false
    this.announce(records)
    if (this.touched.length > 0) this.options.clock.soon(() => this.tellTouched())
  }

  private announce(records: readonly DeviceRecord[]): void {
    if (records.length === 0) return
    const { line, owners, clock } = this.options
    const at = clock.now()
    const byOwner = new Map<string, AnnouncedDevice[]>()
    for (const record of records) {
      const owner = owners.ownerOf(owners.partitionOf(record.originator.id))
      record.announcedAt = at
      if (owner === undefined) continue
      const devices = byOwner.get(owner)
      if (devices === undefined) byOwner.set(owner, [announcementOf(record)])
      else devices.push(announcementOf(record))
    }
    for (const [owner, devices] of byOwner) line.announce(owner, at, devices)
  }
}

function announcementOf(record: DeviceRecord): AnnouncedDevice {
  return { deviceId: record.originator.id, heardAt: record.heardAt, sessions: record.longLived }
}
