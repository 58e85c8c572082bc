/**
 * Times for points that carry none, given in log order at the owner of a stream. One clock per stream, the time at which its frames were
 * stored, which never goes back: so it does not matter over which transport a device came, or what that one's clock says.
 * A stamp is that time, or one more than the device's last one. The same log gives the same stamps, from wherever it is read again.
 */

export interface UnstampedMessage {
  readonly deviceId: string
  /** It is a further element of the upload before it, and has that one's time where the same frame holds both. */
  readonly isSameUpload: boolean
  /** The time that the device gave: it is kept, and no later stamp of the device is the same. */
  readonly ts?: number
}

/** What a stamper needs to go on behind a frame: the stream's time, and the devices that are at or ahead of it. */
export interface StamperNote {
  readonly time: number
  readonly floors: readonly (readonly [deviceId: string, lastStamp: number])[]
  /** Times at or ahead of the stream's that devices gave themselves. */
  readonly given?: readonly (readonly [deviceId: string, ts: number])[]
}

/** Floors are looked over when there are twice as many as the last look left, and so many at least. */
const MIN_FLOORS = 1024
/** What a note holds at most, some 450 KB: a stream's record must fit into one message. */
const MAX_FLOORS = 8192
/** Given times beyond it are forgotten down to half of it, those farthest ahead first. */
const MAX_GIVEN = 2048

export class Stamper {
  /** Unix ms of the frame that was opened last. */
  private time: number
  /** A device that is not here has no stamp at or ahead of `time`: its next one follows from the time alone. */
  private readonly floors: Map<string, number>
  private lookAt = MIN_FLOORS
  private readonly maxFloors: number
  private readonly maxGiven: number
  /** Times that devices gave, at or ahead of `time`. */
  private readonly given = new Map<string, Set<number>>()
  private givenCount = 0

  constructor(note: StamperNote = { time: 0, floors: [] }, maxFloors = MAX_FLOORS, maxGiven = MAX_GIVEN) {
    this.maxFloors = maxFloors
    this.maxGiven = maxGiven
    for (const [deviceId, ts] of note.given ?? []) this.keepGiven(deviceId, ts)
    this.time = note.time
    this.floors = new Map(note.floors)
  }

  /** Stamps of a frame's messages, in their order; each frame once and in log order. `storedAt`: Unix ms. */
  stamp(storedAt: number, messages: readonly UnstampedMessage[]): readonly number[] {
    this.time = Math.max(this.time, Math.floor(storedAt))
    // What a frame begins with may follow an element that was refused: the device's last stamp is another upload's then.
    const begun = new Set<string>()
    const stamps = messages.map(({ deviceId, isSameUpload, ts }) => {
      if (ts === undefined) return this.next(deviceId, isSameUpload, begun)
      if (ts >= this.time) this.keepGiven(deviceId, ts)
      return ts
    })
    if (this.floors.size >= this.lookAt || this.floors.size > this.maxFloors) this.forgetPast()
    if (this.floors.size > this.maxFloors) this.raiseTime()
    if (this.givenCount > this.maxGiven) this.forgetFarthest()
    return stamps
  }

  /** For the record of the stream, at the position behind the last frame. */
  note(): StamperNote {
    this.forgetPast()
    return { time: this.time, floors: [...this.floors], given: this.allGiven() }
  }

  private next(deviceId: string, isSameUpload: boolean, begun: Set<string>): number {
    const last = this.floors.get(deviceId)
    if (isSameUpload && last !== undefined && begun.has(deviceId)) return last
    begun.add(deviceId)
    let stamp = last === undefined || last < this.time ? this.time : last + 1
    if (this.givenCount > 0) for (const given = this.given.get(deviceId); given?.has(stamp) === true;) stamp++
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

  private keepGiven(deviceId: string, ts: number): void {
    let own = this.given.get(deviceId)
    if (own === undefined) this.given.set(deviceId, (own = new Set()))
    this.givenCount -= own.size
    own.add(ts)
    this.givenCount += own.size
  }

  private allGiven(): (readonly [string, number])[] {
    return [...this.given].flatMap(([deviceId, own]) => [...own].map((ts) => [deviceId, ts] as const))
  }

  /** What lies in the past does not count: how much of it is still here depends on more than the log. */
  private forgetFarthest(): void {
    this.forgetPast()
    if (this.givenCount <= this.maxGiven) return
    const nearest = this.allGiven().sort(([a, one], [b, other]) => one - other || (a < b ? -1 : 1))
    this.given.clear()
    this.givenCount = 0
    for (const [deviceId, ts] of nearest.slice(0, this.maxGiven / 2)) this.keepGiven(deviceId, ts)
  }

  private forgetPast(): void {
    for (const [deviceId, own] of this.given) {
      this.givenCount -= own.size
      for (const ts of own) if (ts < this.time) own.delete(ts)
      this.givenCount += own.size
      if (own.size === 0) this.given.delete(deviceId)
    }
    for (const [deviceId, last] of this.floors) if (last < this.time) this.floors.delete(deviceId)
    this.lookAt = Math.max(MIN_FLOORS, 2 * this.floors.size)
  }
}
