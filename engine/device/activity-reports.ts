/**
 * When a device was heard last, on its way from the sessions to the device actors, which write it down: once a period and device,
 * the last time of it, and of devices that are active no more a period than there is room for. So the writes of a fleet do not grow
 * with it: beyond that rate each device's time is written at longer intervals, in turn. That a device becomes active waits for nobody.
 * Source: `device-api.md` 8.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type { DeviceRecord } from './device-record.ts'

export interface ActivityReportSettings {
  /** How often what devices did is written down: the last time of each period. */
  readonly activityReportMs: number
  /** Of active devices; each is a write of an attribute. */
  readonly activityReportsPerSecond: number
}

export class ActivityReports {
  private readonly clock: Clock
  private readonly settings: ActivityReportSettings
  /** In the order in which they were first heard since they were last reported. */
  private unreported: DeviceRecord[] = []
  private timer: TimerHandle | undefined

  constructor(clock: Clock, settings: ActivityReportSettings) {
    this.clock = clock
    this.settings = settings
  }

  /** Devices whose last activity is not yet told. */
  get waiting(): number {
    return this.unreported.length
  }

  /** Returns the present time. */
  heard(record: DeviceRecord): number {
    const now = this.clock.now()
    if (record.unreportedActivity === 0) {
      this.unreported.push(record)
      this.arm()
    }
    record.unreportedActivity = now
    return now
  }

  /** Reports all at once, and nothing any more by itself. */
  close(): void {
    this.timer?.cancel()
    this.report(Infinity)
  }

  private arm(): void {
    const { activityReportMs, activityReportsPerSecond } = this.settings
    this.timer ??= this.clock.after(activityReportMs, () => {
      this.timer = undefined
      this.report(Math.ceil((activityReportsPerSecond * activityReportMs) / 1000))
    })
  }

  private report(room: number): void {
    const heard = this.unreported
    this.unreported = []
    for (const record of heard) {
      if (record.isActive && room-- <= 0) {
        this.unreported.push(record)
        continue
      }
      record.actor.tell({ kind: 'heard', device: record.identity, at: record.unreportedActivity })
      record.unreportedActivity = 0
    }
    if (this.unreported.length > 0) this.arm()
  }
}
