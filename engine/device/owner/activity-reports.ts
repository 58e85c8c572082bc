/**
 * When a device was heard last, on its way to the device actors, which write it down: once a period and device, the last time of it,
 * and of devices that are active no more a period than there is room for. So the writes of a fleet do not grow with it: beyond that
 * rate each device's time is written at longer intervals, in turn. That a device becomes active waits for nobody.
 * Source: `device-api.md` 8.
 */
import type { Clock, TimerHandle } from '../../../model/clock.ts'
import { MAX_PER_TURN } from '../slices.ts'
import type { OwnedDevice } from './owned-device.ts'

export interface ActivityReportSettings {
  /** How often what devices did is written down: the last time of each period. */
  readonly activityReportMs: number
  /** Of active devices; each is a write of an attribute. */
  readonly activityReportsPerSecond: number
}

export class ActivityReports {
  private readonly clock: Clock
  private readonly settings: ActivityReportSettings
  private readonly tell: (device: OwnedDevice, heardAt: number) => void
  /** In the order in which they were first heard since they were last reported. */
  private unreported: OwnedDevice[] = []
  private timer: TimerHandle | undefined
  private isReporting = false

  constructor(clock: Clock, settings: ActivityReportSettings, tell: (device: OwnedDevice, heardAt: number) => void) {
    this.clock = clock
    this.settings = settings
    this.tell = tell
  }

  /** Devices whose last activity is not yet told. */
  get waiting(): number {
    return this.unreported.length
  }

  /** `at`: Unix ms. */
  heard(device: OwnedDevice, at: number): void {
    if (device.unreportedActivity === 0) {
      this.unreported.push(device)
      this.arm()
    }
    device.unreportedActivity = at
  }

  /** Reports all at once, and nothing any more by itself. */
  close(): void {
    this.timer?.cancel()
    this.isReporting = true
    for (const device of this.unreported) this.report(device)
    this.unreported = []
  }

  private arm(): void {
    if (this.isReporting) return
    const { activityReportMs, activityReportsPerSecond } = this.settings
    this.timer ??= this.clock.after(activityReportMs, () => {
      this.timer = undefined
      const devices = this.unreported
      this.unreported = []
      this.isReporting = true
      this.reportSlices(devices, 0, Math.ceil((activityReportsPerSecond * activityReportMs) / 1000), [])
    })
  }

  /** `room`: how many devices that are active already may be reported. */
  private reportSlices(devices: readonly OwnedDevice[], from: number, room: number, left: OwnedDevice[]): void {
    const end = Math.min(devices.length, from + MAX_PER_TURN)
    for (let index = from; index < end; index++) {
      const device = devices[index]
      if (device === undefined || device.isReleased) continue
      if (device.isActive && room-- <= 0) left.push(device)
      else this.report(device)
    }
    if (end < devices.length) {
      this.clock.soon(() => this.reportSlices(devices, end, room, left))
      return
    }
    // Those that waited longest go first the next time.
    this.unreported = left.concat(this.unreported)
    this.isReporting = false
    if (this.unreported.length > 0) this.arm()
  }

  private report(device: OwnedDevice): void {
    this.tell(device, device.unreportedActivity)
    device.unreportedActivity = 0
  }
}
