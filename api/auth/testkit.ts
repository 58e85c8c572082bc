/** For tests of logins: users in memory, a clock that is set by hand, settings that last as long as the test. */
import { randomUUID } from 'node:crypto'
import type { Clock, Random } from '../../model/clock.ts'
import { defineErrors } from '../../model/errors.ts'
import type { User } from '../../model/entities.ts'
import type { JsonValue } from '../../model/json.ts'
import {
  ACCESS_LIFETIME_SECONDS,
  REFRESH_LIFETIME_SECONDS,
  TOKEN_ISSUER,
  type TokenKeySource,
  type TokenSigning,
} from '../../services/admin/jwt-settings.ts'
import type { UserService } from '../../services/users/user-service.ts'
import type { EndedSessionStore } from './session-registry.ts'
import type { SettingsStore } from './settings-store.ts'

/** 2023-11-14T22:13:20Z and a bit: not at the start of a second. */
export const TEST_START = 1_700_000_000_250

export class HandClock implements Clock {
  private time = TEST_START
  now(): number {
    return this.time
  }
  monotonic(): number {
    return this.time
  }
  advance(ms: number): void {
    this.time += ms
  }
  /** For commits in doubt: nothing waits for what these do. */
  after() {
    return { cancel: () => undefined }
  }
  soon(): never {
    throw new Error('logins use no shared turn')
  }
}

export const testRandom: Random = {
  next: () => {
    throw new Error('logins draw no numbers')
  },
  uuid: () => randomUUID(),
}

export class MemorySettings implements SettingsStore {
  private readonly values = new Map<string, JsonValue>()
  async find(name: string): Promise<JsonValue | undefined> {
    return this.values.get(name)
  }
  async put(name: string, value: JsonValue): Promise<void> {
    this.values.set(name, value)
  }
  async putIfAbsent(name: string, value: JsonValue): Promise<JsonValue> {
    const present = this.values.get(name)
    if (present !== undefined) return present
    this.values.set(name, value)
    return value
  }
}

/** Keys that never change. */
export function fixedKeys(
  key: Uint8Array,
  {
    former = [],
    retiredAt = Infinity,
    ...own
  }: Partial<TokenSigning> & { readonly former?: readonly Uint8Array[]; readonly retiredAt?: number } = {},
): TokenKeySource {
  const common = {
    issuer: TOKEN_ISSUER,
    accessLifetimeSeconds: ACCESS_LIFETIME_SECONDS,
    refreshLifetimeSeconds: REFRESH_LIFETIME_SECONDS,
    ...own,
  }
  const keys = { signing: { ...common, key }, former: former.map((each) => ({ ...common, key: each, retiredAt })) }
  return { current: async () => keys, lookAgain: async () => false }
}

export class MemoryEndedSessions implements EndedSessionStore {
  private readonly rows = new Map<string, number>()
  /** Commits whose answer is lost: what was written is there all the same. */
  losesAnswers = false
  reads = 0

  async has(sessionId: string): Promise<boolean> {
    this.reads++
    return this.rows.has(sessionId)
  }

  async add(sessions: readonly (readonly [string, number])[], now: number): Promise<void> {
    for (const [id, until] of this.rows) if (until <= now) this.rows.delete(id)
    for (const [id, until] of sessions) this.rows.set(id, until)
    if (this.losesAnswers) throw new Error('the connection broke')
  }
}

const TestUserErrors = defineErrors('test-user', {
  WRONG_PASSWORD: { kind: 'invalid', status: 400, text: "Current password doesn't match!" },
})

export class MemoryUsers implements UserService {
  private readonly clock: Clock
  private readonly users = new Map<string, { user: User; password: string; validFrom: number }>()
  /** Password checks made so far. */
  checks = 0

  constructor(clock: Clock) {
    this.clock = clock
  }

  add(fields: Pick<User, 'id' | 'email'> & Partial<User>, password: string): User {
    const user: User = {
      createdTime: 1,
      version: 1,
      tenantId: '11111111-1111-4111-8111-111111111111',
      customerId: null,
      authority: 'TENANT_ADMIN',
      firstName: null,
      lastName: null,
      phone: null,
      additionalInfo: null,
      ...fields,
    }
    this.users.set(user.id, { user, password, validFrom: 0 })
    return user
  }

  remove(id: string): void {
    this.users.delete(id)
  }

  async authenticate(email: string, password: string): Promise<User | undefined> {
    this.checks++
    return [...this.users.values()].find(({ user, password: own }) => user.email === email && own === password)?.user
  }

  async find(id: string): Promise<User | undefined> {
    return this.users.get(id)?.user
  }

  async findPublic(): Promise<User | undefined> {
    return undefined
  }

  async noteLogin(): Promise<void> {}

  async tokensValidFrom(id: string): Promise<number> {
    return this.users.get(id)?.validFrom ?? 0
  }

  async changePassword(id: string, current: string, next: string): Promise<void> {
    const entry = this.users.get(id)
    if (entry?.password !== current) throw TestUserErrors.WRONG_PASSWORD()
    entry.password = next
    entry.validFrom = this.clock.now()
  }
}
