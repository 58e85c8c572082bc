/**
 * Which device has which credentials, so that a message does not cost a read of the store. Bounded in bytes; the oldest entry
 * makes room. Unknown credentials are remembered for a moment, so that a device that was deleted and goes on trying costs little.
 * Where changes may have been missed every entry is in doubt: it is given out again once it has been read again.
 */
import { ByteCache, textBytes } from '../../model/byte-cache.ts'
import type { Clock } from '../../model/clock.ts'
import { isToken } from './credential-keys.ts'
import { CredentialReads, type TokenDirectory } from './credential-reads.ts'
import type { DeviceIdentity } from './gateway.ts'

export interface CredentialCacheSettings {
  readonly maxCredentialBytes: number
  readonly maxUnknownCredentialBytes: number
  readonly unknownCredentialsTtlMs: number
  /** Logins with credentials not seen lately that wait for the store at once; more are refused as `retryable`. */
  readonly maxLogins: number
}

/** What the store can hold; a longer one is nobody's. */
const LONGEST_TOKEN = 255
/** The three texts of a login of MQTT together. */
const LONGEST_LOGIN = 8192
/** Ways in which one device is known at once: a device may come by more than one protocol, under more than one client id. */
const MAX_WAYS = 4
/** Of a known device beyond token and names: its objects, six ids, its places in the maps beside the cache. */
const IDENTITY_BYTES = 640
const UNKNOWN_BYTES = 24

interface Entry {
  readonly device: DeviceIdentity
  /** The doubt that was the last one when it was read. */
  readonly doubt: number
}

interface Unknown {
  readonly untilMs: number
}

export class CredentialCache {
  private readonly reads: CredentialReads
  private readonly clock: Clock
  private readonly settings: CredentialCacheSettings
  private readonly known: ByteCache<Entry>
  /** The newest way last. */
  private readonly tokensByDevice = new Map<string, readonly string[]>()
  private readonly tokens = new WeakMap<DeviceIdentity, string>()
  /** Until when a token is known to be nobody's. */
  private readonly unknown: ByteCache<Unknown>
  /** How often anything may have changed. */
  private doubt = 0

  constructor(directory: TokenDirectory, clock: Clock, settings: CredentialCacheSettings) {
    this.reads = new CredentialReads(directory, settings.maxLogins, (token, device, isFresh) => {
      if (isFresh) this.remember(token, device)
      else if (device !== undefined) this.tokens.set(device, token)
    })
    this.clock = clock
    this.settings = settings
    this.known = new ByteCache<Entry>({
      maxBytes: settings.maxCredentialBytes,
      sizeOf: ({ device }) => identityBytes(device),
      onDrop: (token, { device }) => {
        this.forgetWay(device.deviceId, token)
      },
    })
    this.unknown = new ByteCache<Unknown>({ maxBytes: settings.maxUnknownCredentialBytes, sizeOf: () => UNKNOWN_BYTES })
  }

  get size(): number {
    return this.known.size
  }

  /** About the memory of what is known and of what is known to be nobody's: each below its bound. */
  get bytes(): { readonly known: number; readonly unknown: number } {
    return { known: this.known.bytes, unknown: this.unknown.bytes }
  }

  /** Called for every message over HTTP: does not reorder the entries. */
  lookUp(token: string): DeviceIdentity | undefined {
    const entry = this.known.peek(token)
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
    const longest = isToken(token) ? LONGEST_TOKEN : LONGEST_LOGIN
    if (token.length > longest || this.isUnknown(token)) return Promise.resolve(undefined)
    return this.reads.login(token, this.known.peek(token) === undefined)
  }

  /** Reads it again, behind all logins. Rejects as the store does. */
  refresh(token: string): Promise<DeviceIdentity | undefined> {
    const known = this.lookUp(token)
    return known === undefined ? this.reads.refresh(token) : Promise.resolve(known)
  }

  /** Forgets one device, and everything about unknown credentials: any of them may be its new ones. */
  deviceChanged(deviceId: string): void {
    this.changed(deviceId)
    for (const token of this.tokensByDevice.get(deviceId) ?? []) this.known.delete(token)
  }

  profileChanged(profileId: string): void {
    this.changed(profileId)
    const tokens: string[] = []
    for (const [token, { device }] of this.known.all()) if (device.deviceProfileId === profileId) tokens.push(token)
    for (const token of tokens) this.known.delete(token)
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
    this.known.delete(token)
    if (device === undefined) {
      this.unknown.set(token, { untilMs: this.clock.monotonic() + this.settings.unknownCredentialsTtlMs })
      return
    }
    const { deviceId } = device
    const [oldest] = this.tokensByDevice.get(deviceId) ?? []
    if (oldest !== undefined && (this.tokensByDevice.get(deviceId)?.length ?? 0) >= MAX_WAYS) this.known.delete(oldest)
    const others = this.tokensByDevice.get(deviceId)
    // A literal: what is spread has room for sixteen more.
    this.tokensByDevice.set(deviceId, others === undefined ? [token] : [...others, token])
    this.tokens.set(device, token)
    const entry: Entry = { device, doubt: this.doubt }
    this.known.set(token, entry)
    if (this.known.peek(token) !== entry) this.forgetWay(deviceId, token)
  }

  private forgetWay(deviceId: string, token: string): void {
    const left = (this.tokensByDevice.get(deviceId) ?? []).filter((each) => each !== token)
    if (left.length === 0) this.tokensByDevice.delete(deviceId)
    else this.tokensByDevice.set(deviceId, left)
  }

  private isUnknown(token: string): boolean {
    const unknown = this.unknown.peek(token)
    if (unknown === undefined) return false
    if (unknown.untilMs > this.clock.monotonic()) return true
    this.unknown.delete(token)
    return false
  }
}

function identityBytes({ deviceName, deviceType, deviceLabel, queueName }: DeviceIdentity): number {
  return (
    IDENTITY_BYTES +
    textBytes(deviceName) +
    textBytes(deviceType) +
    textBytes(deviceLabel ?? '') +
    textBytes(queueName ?? '')
  )
}
