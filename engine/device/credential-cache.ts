/**
 * Which device has which credentials, so that a message does not cost a read of the store. Bounded; the oldest entry makes
 * room. Unknown credentials are remembered for a moment, so that a device that was deleted and goes on trying costs little.
 * Where changes may have been missed every entry is in doubt: it is given out again once it has been read again.
 */
import type { Clock } from '../../model/clock.ts'
import { CredentialReads, type DeviceDirectory } from './credential-reads.ts'
import type { DeviceIdentity } from './gateway.ts'

export interface CredentialCacheSettings {
  readonly maxCachedCredentials: number
  readonly maxUnknownCredentials: number
  readonly unknownCredentialsTtlMs: number
  /** Logins with credentials not seen lately that wait for the store at once; more are refused as `retryable`. */
  readonly maxLogins: number
}

/** What the store can hold; a longer one is nobody's. */
const LONGEST_TOKEN = 255

interface Entry {
  readonly device: DeviceIdentity
  /** The doubt that was the last one when it was read. */
  readonly doubt: number
}

export class CredentialCache {
  private readonly reads: CredentialReads
  private readonly clock: Clock
  private readonly settings: CredentialCacheSettings
  private readonly known = new Map<string, Entry>()
  private readonly tokenByDevice = new Map<string, string>()
  private readonly tokens = new WeakMap<DeviceIdentity, string>()
  /** Until when a token is known to be nobody's. */
  private readonly unknown = new Map<string, number>()
  /** How often anything may have changed. */
  private doubt = 0

  constructor(directory: DeviceDirectory, clock: Clock, settings: CredentialCacheSettings) {
    this.reads = new CredentialReads(directory, settings.maxLogins, (token, device, isFresh) => {
      if (isFresh) this.remember(token, device)
      else if (device !== undefined) this.tokens.set(device, token)
    })
    this.clock = clock
    this.settings = settings
  }

  get size(): number {
    return this.known.size
  }

  lookUp(token: string): DeviceIdentity | undefined {
    const entry = this.known.get(token)
    return entry?.doubt === this.doubt ? entry.device : undefined
  }

  /** The token with which an identity of this cache was found. */
  tokenOf(device: DeviceIdentity): string | undefined {
    return this.tokens.get(device)
  }

  /** Whether this is the identity that the cache gives out now. */
  isPresent(device: DeviceIdentity): boolean {
    const token = this.tokens.get(device)
    return token !== undefined && this.lookUp(token) === device
  }

  /** Rejects TOO_MANY_LOGINS, never for credentials that were seen lately; or as the store does. */
  find(token: string): Promise<DeviceIdentity | undefined> {
    const known = this.lookUp(token)
    if (known !== undefined) return Promise.resolve(known)
    if (token.length > LONGEST_TOKEN || this.isUnknown(token)) return Promise.resolve(undefined)
    return this.reads.login(token, !this.known.has(token))
  }

  /** Reads it again, behind all logins. Rejects as the store does. */
  refresh(token: string): Promise<DeviceIdentity | undefined> {
    const known = this.lookUp(token)
    return known === undefined ? this.reads.refresh(token) : Promise.resolve(known)
  }

  /** Forgets one device, and everything about unknown credentials: any of them may be its new ones. */
  deviceChanged(deviceId: string): void {
    this.changed(deviceId)
    const token = this.tokenByDevice.get(deviceId)
    if (token !== undefined) this.forget(token, deviceId)
  }

  profileChanged(profileId: string): void {
    this.changed(profileId)
    for (const [token, { device }] of this.known) {
      if (device.deviceProfileId === profileId) this.forget(token, device.deviceId)
    }
  }

  /** Any change may have been missed. */
  doubtAll(): void {
    this.doubt++
    this.changed(undefined)
  }

  private changed(id: string | undefined): void {
    this.unknown.clear()
    this.reads.changed(id)
  }

  private remember(token: string, device: DeviceIdentity | undefined): void {
    const before = this.known.get(token)
    if (before !== undefined) this.forget(token, before.device.deviceId)
    if (device === undefined) {
      makeRoom(this.unknown, this.settings.maxUnknownCredentials)
      this.unknown.set(token, this.clock.monotonic() + this.settings.unknownCredentialsTtlMs)
      return
    }
    if (this.known.size >= this.settings.maxCachedCredentials) {
      for (const [oldest, entry] of this.known) {
        this.forget(oldest, entry.device.deviceId)
        break
      }
    }
    this.known.set(token, { device, doubt: this.doubt })
    this.tokenByDevice.set(device.deviceId, token)
    this.tokens.set(device, token)
  }

  private forget(token: string, deviceId: string): void {
    this.known.delete(token)
    if (this.tokenByDevice.get(deviceId) === token) this.tokenByDevice.delete(deviceId)
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
