/**
 * Reads of credentials, many in one: what is asked for while reads are under way is the next one. Logins go first; refreshes of what
 * is known already fill what they leave free and never hold one up. A read during which something changed is repeated for what the
 * change may concern.
 */
import { DeviceErrors } from './errors.ts'
import type { DeviceIdentity } from './gateway.ts'

export interface TokenDirectory {
  /** Who has these, as `credentialKey` writes them, in one read; what is not in the answer is nobody's. Rejects when the store does not answer. */
  findByCredentials(keys: readonly string[]): Promise<ReadonlyMap<string, DeviceIdentity>>
}

export interface DeviceDirectory extends TokenDirectory {
  /** Devices whose credentials changed, or which were deleted, since then (Unix ms): the newest `limit`. Rejects likewise. */
  findCredentialsChanged(since: number, limit: number): Promise<readonly string[]>
}

/** Hears who has a token, nobody where `device` is absent, before whoever asked. `isFresh`: nothing changed since it was read. */
export type ReadListener = (token: string, device: DeviceIdentity | undefined, isFresh: boolean) => void

const TOKENS_PER_READ = 256
/** Of a read with both: refreshes go on while a storm of logins lasts. */
const LOGINS_PER_READ = 192
const READS_AT_ONCE = 4
/** Reads without a login leave this many free, so that a login never waits for one. */
const READS_FOR_LOGINS = 2
/** With devices changing all the time, an answer that may be a moment old is better than none. */
const MAX_TRIES = 5

interface Asked {
  readonly token: string
  readonly isLogin: boolean
  tries: number
  readonly promise: Promise<DeviceIdentity | undefined>
  readonly resolve: (device: DeviceIdentity | undefined) => void
  readonly reject: (error: unknown) => void
}

/** What changed while a read was under way: ids of devices and profiles. */
interface ReadUnderWay {
  readonly changed: Set<string>
  isAllChanged: boolean
}

export class CredentialReads {
  private readonly directory: TokenDirectory
  private readonly maxLogins: number
  private readonly onRead: ReadListener
  private readonly logins = new Map<string, Asked>()
  private readonly refreshes = new Map<string, Asked>()
  /** Being read, and good for whoever asks meanwhile: a change takes them out. */
  private readonly reading = new Map<string, Asked>()
  private readonly underWay = new Set<ReadUnderWay>()
  private loginsUnderWay = 0
  private isPumpDue = false

  constructor(directory: TokenDirectory, maxLogins: number, onRead: ReadListener) {
    this.directory = directory
    this.maxLogins = maxLogins
    this.onRead = onRead
  }

  /** `isBounded`: refused with TOO_MANY_LOGINS where too many wait already. Rejects as the store does. */
  login(token: string, isBounded: boolean): Promise<DeviceIdentity | undefined> {
    const asked = this.logins.get(token) ?? this.reading.get(token)
    if (asked !== undefined) return asked.promise
    if (isBounded && this.logins.size + this.loginsUnderWay >= this.maxLogins) {
      return Promise.reject(DeviceErrors.TOO_MANY_LOGINS({ limit: this.maxLogins }))
    }
    return this.ask(this.logins, token, true)
  }

  /** As the caller bounds them. Rejects as the store does. */
  refresh(token: string): Promise<DeviceIdentity | undefined> {
    const asked = this.refreshes.get(token) ?? this.reading.get(token)
    if (asked !== undefined) return asked.promise
    const login = this.logins.get(token)
    if (login === undefined) return this.ask(this.refreshes, token, false)
    // Far behind in a storm of logins it would wait for all before it; refreshes have a part of every read.
    if (this.logins.size > LOGINS_PER_READ) {
      this.logins.delete(token)
      this.refreshes.set(token, login)
    }
    return login.promise
  }

  /** The device or profile of this id is another; undefined: anything may be. */
  changed(id: string | undefined): void {
    // Whoever asks from now on must not get an answer that was read before the change.
    this.reading.clear()
    for (const read of this.underWay) {
      if (id === undefined) read.isAllChanged = true
      else read.changed.add(id)
    }
  }

  private ask(lane: Map<string, Asked>, token: string, isLogin: boolean): Promise<DeviceIdentity | undefined> {
    let resolve: Asked['resolve'] = () => undefined
    let reject: Asked['reject'] = () => undefined
    const promise = new Promise<DeviceIdentity | undefined>((resolved, rejected) => {
      resolve = resolved
      reject = rejected
    })
    lane.set(token, { token, isLogin, tries: 0, promise, resolve, reject })
    this.pumpSoon()
    return promise
  }

  /** What is asked for in one go is one read. */
  private pumpSoon(): void {
    if (this.isPumpDue) return
    this.isPumpDue = true
    queueMicrotask(() => this.pump())
  }

  private pump(): void {
    this.isPumpDue = false
    while (this.mayRead()) {
      const batch: Asked[] = []
      take(this.logins, batch, LOGINS_PER_READ)
      take(this.refreshes, batch, TOKENS_PER_READ)
      take(this.logins, batch, TOKENS_PER_READ)
      void this.read(batch)
    }
  }

  private mayRead(): boolean {
    if (this.logins.size > 0) return this.underWay.size < READS_AT_ONCE
    return this.refreshes.size > 0 && this.underWay.size < READS_AT_ONCE - READS_FOR_LOGINS
  }

  private async read(batch: readonly Asked[]): Promise<void> {
    const read: ReadUnderWay = { changed: new Set(), isAllChanged: false }
    this.underWay.add(read)
    for (const asked of batch) this.reading.set(asked.token, asked)
    const logins = batch.reduce((count, { isLogin }) => count + (isLogin ? 1 : 0), 0)
    this.loginsUnderWay += logins
    try {
      const found = await this.directory.findByCredentials(batch.map(({ token }) => token))
      for (const asked of batch) this.answer(asked, found.get(asked.token), read)
    } catch (error) {
      for (const asked of batch) asked.reject(error)
    } finally {
      this.underWay.delete(read)
      this.loginsUnderWay -= logins
      for (const asked of batch) if (this.reading.get(asked.token) === asked) this.reading.delete(asked.token)
      this.pump()
    }
  }

  /** Reads again where a change came between: who was let in by what is no longer so would never be sent away. */
  private answer(asked: Asked, device: DeviceIdentity | undefined, read: ReadUnderWay): void {
    const isFresh = !mayHaveChanged(device, read)
    if (isFresh || ++asked.tries >= MAX_TRIES) {
      this.onRead(asked.token, device, isFresh)
      return asked.resolve(device)
    }
    const lane = asked.isLogin ? this.logins : this.refreshes
    const other = lane.get(asked.token)
    // Somebody who came after the change asks for it already.
    if (other === undefined) lane.set(asked.token, asked)
    else other.promise.then(asked.resolve, asked.reject)
  }
}

function mayHaveChanged(device: DeviceIdentity | undefined, { changed, isAllChanged }: ReadUnderWay): boolean {
  if (isAllChanged) return true
  // Nobody's: any device that changed may have these credentials now.
  if (device === undefined) return changed.size > 0
  return changed.has(device.deviceId) || changed.has(device.deviceProfileId)
}

function take(lane: Map<string, Asked>, batch: Asked[], upTo: number): void {
  for (const asked of lane.values()) {
    if (batch.length >= upTo) return
    lane.delete(asked.token)
    batch.push(asked)
  }
}
