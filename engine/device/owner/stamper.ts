/**
 * Times for points that carry none, given in log order at the owner of a stream. One clock per stream, the time at which its frames were
 * stored, which never goes back: so it does not matter over which transport a device came, or what that one's clock says.
 * A stamp is that time, or one more than the device's last one. The same log gives the same stamps, from wherever it is read again.
 */

export interface UnstampedMessage {
  readonly deviceId: string
  /** It is a further element of the upload before it, and has that one's time where the same frame holds both. */
  readonly isSameUpload: boolean
}

/** What a stamper needs to go on behind a frame: the stream's time, and the devices that are at or ahead of it. */
export interface StamperNote {
  readonly time: number
  readonly floors: readonly (readonly [deviceId: string, lastStamp: number])[]
}

/** Floors are looked over when there are twice as many as the last look left, and so many at least. */
const MIN_FLOORS = 1024
/** What a note holds at most, some 450 KB: a stream's record must fit into one message. */
const MAX_FLOORS = 8192

export class Stamper {
  /** Unix ms of the frame that was opened last. */
  private time: number
  /** A device that is not here has no stamp at or ahead of `time`: its next one follows from the time alone. */
  private readonly floors: Map<string, number>
  private lookAt = MIN_FLOORS
  private readonly maxFloors: number

  constructor(note: StamperNote = { time: 0, floors: [] }, maxFloors = MAX_FLOORS) {
    this.maxFloors = maxFloors
    this.time = note.time
    this.floors = new Map(note.floors)
  }

  /** Stamps of a frame's messages, in their order; each frame once and in log order. `storedAt`: Unix ms. */
  stamp(storedAt: number, messages: readonly UnstampedMessage[]): readonly number[] {
    this.time = Math.max(this.time, Math.floor(storedAt))
    // What a frame begins with may follow an element that was refused: the device's last stamp is another upload's then.
    const begun = new Set<string>()
    const stamps = messages.map(({ deviceId, isSameUpload }) => this.next(deviceId, isSameUpload, begun))
    if (this.floors.size >= this.lookAt || this.floors.size > this.maxFloors) this.forgetPast()
    if (this.floors.size > this.maxFloors) this.raiseTime()
    return stamps
  }

  /** For the record of the stream, at the position behind the last frame. */
  note(): StamperNote {
    this.forgetPast()
    return { time: this.time, floors: [...this.floors] }
  }

  private next(deviceId: string, isSameUpload: boolean, begun: Set<string>): number {
    const last = this.floors.get(deviceId)
    if (isSameUpload && last !== undefined && begun.has(deviceId)) return last
    begun.add(deviceId)
    const stamp = last === undefined || last < this.time ? this.time : last + 1
    this.floors.set(deviceId, stamp)
    return stamp
  }

  /**
   * More devices are ahead than a note can hold: the stream's time moves up to where half of that are left. It depends on the log alone, as
   * it is done behind each frame after what lies in the past was forgotten.
   */
  private raiseTime(): void {
    const ahead = [...this.floors.values()].sort((one, other) => other - one)
    this.time = (ahead[Math.floor(this.maxFloors / 2)] ?? this.time) + 1
    this.forgetPast()
  }

  private forgetPast(): void {
    for (const [deviceId, last] of this.floors) if (last < this.time) this.floors.delete(deviceId)
    this.lookAt = Math.max(MIN_FLOORS, 2 * this.floors.size)
  }
}
