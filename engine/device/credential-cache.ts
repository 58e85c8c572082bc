/**
 * Which device has which credentials, so that a message does not cost a read of the store. Bounded; the oldest entry makes
 * room. Unknown credentials are remembered for a moment, so that a device that was deleted and goes on trying costs little.
 * A change that comes while a read is under way makes its result unfit for keeping.
 */
import type { Clock } from '../../model/clock.ts'
import type { DeviceIdentity } from './gateway.ts'
import { DeviceErrors } from './errors.ts'

export interface DeviceDirectory {
  /** Undefined when nobody has this token. Rejects when the store does not answer. */
  findByAccessToken(token: string): Promise<DeviceIdentity | undefined>
}

export interface CredentialCacheSettings {
  readonly maxCachedCredentials: number
  readonly maxUnknownCredentials: number
  readonly unknownCredentialsTtlMs: number
  /** Reads of the store at once; more are refused as `retryable`. */
  readonly maxLogins: number
}

/** What the store can hold; a longer one is nobody's. */
const LONGEST_TOKEN = 255
/** With devices changing all the time, an answer that may be a moment old is better than none. */
const MAX_READS = 5

export class CredentialCache {
  private readonly directory: DeviceDirectory
  private readonly clock: Clock
  private readonly settings: CredentialCacheSettings
  private readonly known = new Map<string, DeviceIdentity>()
  private readonly tokenByDevice = new Map<string, string>()
  private readonly tokens = new WeakMap<DeviceIdentity, string>()
  /** Until when a token is known to be nobody's. */
  private readonly unknown = new Map<string, number>()
  private readonly reading = new Map<string, Promise<DeviceIdentity | undefined>>()
  private generation = 0

  constructor(directory: DeviceDirectory, clock: Clock, settings: CredentialCacheSettings) {
    this.directory = directory
    this.clock = clock
    this.settings = settings
  }

  get size(): number {
    return this.known.size
  }

  lookUp(token: string): DeviceIdentity | undefined {
    return this.known.get(token)
  }

  /** The token with which an identity of this cache was found. */
  tokenOf(device: DeviceIdentity): string | undefined {
    return this.tokens.get(device)
  }

  /** Whether this is the identity that the cache gives out now. */
  isPresent(device: DeviceIdentity): boolean {
    const token = this.tokens.get(device)
    return token !== undefined && this.known.get(token) === device
  }

  /** Rejects TOO_MANY_LOGINS, or as the store does. */
  find(token: string): Promise<DeviceIdentity | undefined> {
    const known = this.known.get(token)
    if (known !== undefined) return Promise.resolve(known)
    if (token.length > LONGEST_TOKEN || this.isUnknown(token)) return Promise.resolve(undefined)
    const underWay = this.reading.get(token)
    if (underWay !== undefined) return underWay
    if (this.reading.size >= this.settings.maxLogins) {
      return Promise.reject(DeviceErrors.TOO_MANY_LOGINS({ limit: this.settings.maxLogins }))
    }
    const read = this.read(token)
    this.reading.set(token, read)
    return read
  }

  /** Forgets one device, and everything about unknown credentials: any of them may be its new ones. */
  deviceChanged(deviceId: string): void {
    this.changed()
    const token = this.tokenByDevice.get(deviceId)
    if (token !== undefined) this.forget(token, deviceId)
  }

  profileChanged(profileId: string): void {
    this.changed()
    for (const [token, device] of this.known) {
      if (device.deviceProfileId === profileId) this.forget(token, device.deviceId)
    }
  }

  /** Any change may have been missed. */
  forgetAll(): void {
    this.changed()
    this.known.clear()
    this.tokenByDevice.clear()
  }

  private changed(): void {
    this.generation++
    this.unknown.clear()
    // Whoever asks from now on must not get an answer that was read before the change.
    this.reading.clear()
  }

  /** Reads again where a change came between: who was let in by what is no longer so would never be sent away. */
  private async read(token: string): Promise<DeviceIdentity | undefined> {
    for (let attempt = 1; ; attempt++) {
      const { generation } = this
      try {
        const device = await this.directory.findByAccessToken(token)
        if (generation === this.generation) {
          this.remember(token, device)
          return device
        }
        if (attempt === MAX_READS) {
          if (device !== undefined) this.tokens.set(device, token)
          return device
        }
      } finally {
        if (generation === this.generation) this.reading.delete(token)
      }
    }
  }

  private remember(token: string, device: DeviceIdentity | undefined): void {
    if (device === undefined) {
      makeRoom(this.unknown, this.settings.maxUnknownCredentials)
      this.unknown.set(token, this.clock.monotonic() + this.settings.unknownCredentialsTtlMs)
      return
    }
    if (this.known.size >= this.settings.maxCachedCredentials) {
      for (const [oldest, { deviceId }] of this.known) {
        this.forget(oldest, deviceId)
        break
      }
    }
    this.known.set(token, device)
    this.tokenByDevice.set(device.deviceId, token)
    this.tokens.set(device, token)
  }

  private forget(token: string, deviceId: string): void {
    this.known.delete(token)
    this.tokenByDevice.delete(deviceId)
  }

  private isUnknown(token: string): boolean {
    const until = this.unknown.get(token)
    if (until === undefined) return false
    if (until > this.clock.monotonic()) return true
    this.unknown.delete(token)
    return false
  }
}

function makeRoom(map: Map<string, unknown>, limit: number): void {
  if (map.size < limit) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}
