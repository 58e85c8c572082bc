/**
 * When a device was heard last, on its way to the device actors, which write it down: once a period and device, the last time of it,
 * and of devices that are active no more a second than there is room for. So the writes of a fleet do not grow with it: beyond that
 * rate each device's time is written at longer intervals, in turn. That a device becomes active waits for nobody.
 *
 * Each device has a period of its own, from when it was heard: one period for all wrote a fleet's times at the same moment, and everybody's
 * messages waited behind that.
 * Source: `device-api.md` 8.
 */
import type { Clock, TimerHandle } from '../../../model/clock.ts'
import { MAX_PER_TURN } from '../slices.ts'
import type { OwnedDevice } from './owned-device.ts'

export interface ActivityReportSettings {
  /** How often what a device did is written down: the last time of each period. */
  readonly activityReportMs: number
  /** Of active devices; each is a write of an attribute. */
  readonly activityReportsPerSecond: number
}

/** Devices that were heard within such a part of a period share a timer. */
const SLOTS_PER_PERIOD = 60

interface Slot {
  /** Monotonic ms. */
  readonly dueMs: number
  readonly devices: OwnedDevice[]
  /** How many of them are dealt with. */
  visited: number
}

export class ActivityReports {
  private readonly clock: Clock
  private readonly settings: ActivityReportSettings
  private readonly tell: (device: OwnedDevice, heardAt: number) => void
  private readonly slotMs: number
  /** By their due times. */
  private readonly slots: Slot[] = []
  /** Active and due, without room: the one that waits longest first. */
  private readonly late = new Set<OwnedDevice>()
  /** Reports of active devices that the time gone by has room for. */
  private room: number
  private filledAtMs: number
  private timer: TimerHandle | undefined
  private isTurnAsked = false
  private isClosed = false
  private count = 0

  constructor(clock: Clock, settings: ActivityReportSettings, tell: (device: OwnedDevice, heardAt: number) => void) {
    this.clock = clock
    this.settings = settings
    this.tell = tell
    this.slotMs = Math.max(1, Math.floor(settings.activityReportMs / SLOTS_PER_PERIOD))
    this.room = this.maxRoom
    this.filledAtMs = clock.monotonic()
  }

  /** Devices whose last activity is not yet told. */
  get waiting(): number {
    return this.count
  }

  /** `at`: Unix ms. */
  heard(device: OwnedDevice, at: number): void {
    const isWaiting = device.unreportedActivity > 0
    device.unreportedActivity = at
    if (!isWaiting) this.await(device)
    // It fell silent while it had no room.
    else if (!device.isActive && this.late.delete(device)) this.report(device)
  }

  /** Reports all at once, and nothing any more by itself. */
  close(): void {
    this.isClosed = true
    this.timer?.cancel()
    for (const device of this.late) this.report(device)
    for (const { devices, visited } of this.slots) for (const device of devices.slice(visited)) this.report(device)
    this.late.clear()
    this.slots.length = 0
  }

  private get maxRoom(): number {
    const { activityReportMs, activityReportsPerSecond } = this.settings
    return Math.ceil((activityReportsPerSecond * activityReportMs) / 1000)
  }

  private await(device: OwnedDevice): void {
    this.count++
    const begin = Math.floor(this.clock.monotonic() / this.slotMs) * this.slotMs
    const dueMs = begin + this.settings.activityReportMs
    const last = this.slots.at(-1)
    if (last !== undefined && last.dueMs >= dueMs) last.devices.push(device)
    else this.slots.push({ dueMs, devices: [device], visited: 0 })
    this.arm()
  }

  private arm(): void {
    if (this.isClosed || this.isTurnAsked || this.timer !== undefined) return
    const [first] = this.slots
    if (first === undefined && this.late.size === 0) return
    const dueInMs = first === undefined ? Infinity : first.dueMs - this.clock.monotonic()
    const waitMs = this.late.size > 0 ? Math.min(dueInMs, this.slotMs) : dueInMs
    this.timer = this.clock.after(Math.max(0, Math.ceil(waitMs)), () => {
      this.timer = undefined
      this.reportDue()
    })
  }

  /** As many as one turn has time for. */
  private reportDue(): void {
    if (this.isClosed) return
    const now = this.clock.monotonic()
    this.room = Math.min(
      this.maxRoom,
      this.room + ((now - this.filledAtMs) * this.settings.activityReportsPerSecond) / 1000,
    )
    this.filledAtMs = now
    let left = MAX_PER_TURN
    for (const device of this.late) {
      if (left === 0 || !(device.isReleased || this.takeRoom())) break
      left--
      this.late.delete(device)
      this.report(device)
    }
    left = this.visitSlots(now, left)
    if (left > 0) return this.arm()
    this.isTurnAsked = true
    this.clock.soon(() => {
      this.isTurnAsked = false
      this.reportDue()
    })
  }

  /** Visits at most `left` devices that are due. Returns how many more there is time for. */
  private visitSlots(now: number, left: number): number {
    for (let slot = this.slots[0]; slot !== undefined && slot.dueMs <= now; slot = this.slots[0]) {
      while (slot.visited < slot.devices.length) {
        const device = slot.devices[slot.visited]
        if (left === 0) return 0
        left--
        slot.visited++
        if (device === undefined) continue
        if (!device.isActive || device.isReleased || (this.late.size === 0 && this.takeRoom())) this.report(device)
        else this.late.add(device)
      }
      this.slots.shift()
    }
    return left
  }

  private takeRoom(): boolean {
    // A little less than one is one: times are not exact.
    if (this.room < 1 - 1e-6) return false
    this.room--
    return true
  }

  private report(device: OwnedDevice): void {
    this.count--
    const heardAt = device.unreportedActivity
    device.unreportedActivity = 0
    if (!device.isReleased) this.tell(device, heardAt)
  }
}
