/**
 * What the owner of a device has of it at hand: plain fields, because every message that is read touches them. Its actor is found by the
 * device's id when there is something to settle, and passivated soon after: most devices have none.
 */

/** A session somewhere, for as long as its process says so. */
export interface Lease {
  readonly member: string
  readonly id: number
  /** Monotonic ms of this process, from its age when it was told first. */
  readonly openedAt: number
  /** Monotonic ms. */
  until: number
}

export class OwnedDevice {
  readonly deviceId: string
  readonly partition: number
  /** Unix ms, the last that is known; 0 for never. */
  heardAt = 0
  /** Unix ms; 0 while nothing is to be reported. */
  unreportedActivity = 0
  isActive = false
  /** Unix ms: before it no check can find the device silent. */
  silentAt = 0
  /** Its actor could not read or write: it is woken again at the next round. */
  isTroubled = false
  /** It may have lost its last session when nobody was its owner: looked at once all transports have announced. */
  mayHaveLeft = false
  /** The owner has let go of it. */
  isReleased = false
  /** Long-lived sessions anywhere, the oldest first. */
  leases: Lease[] | undefined
  /** Sessions that were told to end and are still announced: `member id`. */
  ending: Set<string> | undefined
  /** When it was told offline as an edge node whose process died, monotonic ms. */
  lostAt: number | undefined

  constructor(deviceId: string, partition: number) {
    this.deviceId = deviceId
    this.partition = partition
  }
}
