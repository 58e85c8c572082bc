/**
 * Logins and tokens: who is it that asks. A token is verified once and then known for a while; that its user still exists,
 * still is what the token says, and has not withdrawn it, is asked at every request.
 */
import { NULL_UUID } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { Clock, Random } from '../../model/clock.ts'
import type { User } from '../../model/entities.ts'
import type { Principal } from '../../model/principal.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { TokenKeySource } from '../../services/admin/jwt-settings.ts'
import type { UserService } from '../../services/users/user-service.ts'
import type { SecondStep } from '../../services/users/two-factor.ts'
import { AuthErrors } from './errors.ts'
import { DEFAULT_LOGIN_LIMITS, LoginLimiter, type LoginLimits } from './login-limiter.ts'
import { SessionRegistry, type EndedSessionStore } from './session-registry.ts'
import type { SettingsStore } from './settings-store.ts'
import { VerifiedTokens } from './verified-tokens.ts'
import { createTokens, type HalfScope, type AccessClaims, type TokenPair } from './tokens.ts'

export interface AuthOptions {
  readonly users: UserService
  /** Whose an API key is; undefined where nobody has it. Absent: none is good. */
  readonly userOfApiKey?: (value: string) => Promise<User | undefined>
  /** What tokens are signed by, and what they are checked by. */
  readonly tokenKeys: TokenKeySource
  /** What is still asked of who gave the password; undefined where it is enough. */
  readonly secondStep?: (user: User) => Promise<SecondStep | undefined>
  /** Throws where the user has a second factor that another session set up. */
  readonly checkSetUp?: (user: User, sessionId: string) => Promise<void>
  readonly clock: Clock
  readonly random: Random
  /** Where logged-out sessions are kept, and where versions before kept them. */
  readonly endedSessions: EndedSessionStore
  /** Memory for verified access tokens; default 16 MiB. */
  readonly tokenCacheBytes?: number
  readonly settings: SettingsStore
  /** Tells the other processes who logged out, and hears it of them; absent where there are none. */
  readonly feed?: ChangeFeed
  readonly loginLimits?: LoginLimits
}

/** A user behind a token, and what can be withdrawn of it. */
export interface Login {
  readonly principal: Principal
  readonly sessionId: string
  /** Unix seconds. */
  readonly issuedAt: number
  /** In the place of a session: the login holds as long as the key does. */
  readonly apiKey?: string
}

export interface Auth {
  /**
   * Throws `BAD_CREDENTIALS`, `LOCKED`, `TOO_MANY_FAILURES`, `TOO_BUSY`. `address` is the client's. With a scope where a second factor
   * is asked for.
   */
  login(username: string, password: string, address: string): Promise<TokenPair>
  /** Who gave the password and must still give, or set up, a second factor. Throws as `authenticate`. */
  halfLoggedIn(token: string, scope: HalfScope): Promise<User>
  /** Who acts, for the calls that set one up. Throws as `checkSetUp` too. */
  authenticateToSetUp(token: string): Promise<Principal>
  /** A pair where `check` does not throw, whose failures count as those of passwords do. */
  loginVerified(token: string, address: string, check: (user: User) => Promise<void>): Promise<TokenPair>
  /** As `login`, for who showed in another way who he is. */
  loginAs(userId: string): Promise<TokenPair>
  /** A pair for a user who showed in another way that he may have it. Throws `TOKEN_EXPIRED` where there is no such user, `NOT_ACTIVE`. */
  issueFor(userId: string): Promise<TokenPair>
  /** A new pair, of a new session, for a refresh token. Throws `BAD_CREDENTIALS`, `TOKEN_EXPIRED`, `TOKEN_OUTDATED`. */
  refresh(refreshToken: string): Promise<TokenPair>
  /** The user behind an access token, bare or behind `Bearer `. Throws `BAD_CREDENTIALS`, `TOKEN_EXPIRED`. */
  authenticate(token: string): Promise<Principal>
  /** The user behind an API key. Throws `BAD_CREDENTIALS`, `users.NOT_ACTIVE`, `users.API_KEY_EXPIRED`. */
  authenticateApiKey(value: string): Promise<Principal>
  /** A pair for everybody: with it one sees what the public customer of that id has. Throws `BAD_CREDENTIALS`. */
  loginPublic(customerId: string): Promise<TokenPair>
  /** As `authenticate`, with what `stillHolds` asks for. */
  authenticateLogin(token: string): Promise<Login>
  /** As `authenticateApiKey`; its error names the key where nobody has it. */
  loginByApiKey(value: string): Promise<Login>
  /** Whether neither the session nor the tokens of the user were withdrawn, and the user is still who the login says. */
  stillHolds(login: Login): Promise<boolean>
  /** Ends the token's session: its access and refresh tokens are refused from now on. */
  logout(token: string): Promise<void>
  /** Throws `invalid` as the user service does; every older token of the user is refused afterwards. */
  changePassword(principal: Principal, current: string, next: string, address: string): Promise<TokenPair>
  /** Hears of no other process any more. */
  close(): void
}

/** Some 8,000 tokens of users with short names. */
const TOKEN_CACHE_BYTES = 16 << 20

export async function createAuth(options: AuthOptions): Promise<Auth> {
  const { clock, users } = options
  const tokens = createTokens(options.tokenKeys)
  const sessions = await SessionRegistry.load({
    store: options.endedSessions,
    settings: options.settings,
    lifetimeMs: () => longestLifetimeMs(options.tokenKeys),
    clock,
    feed: options.feed,
  })
  const limiter = new LoginLimiter(options.loginLimits ?? DEFAULT_LOGIN_LIMITS)
  const verified = new VerifiedTokens(tokens, clock, options.tokenCacheBytes ?? TOKEN_CACHE_BYTES)

  /** The user whom the claims name: nobody in particular is who came in by a public customer. */
  const find = ({ userId, email }: { readonly userId: string; readonly email: string }): Promise<User | undefined> =>
    userId === NULL_UUID ? users.findPublic(email) : users.find(userId)
  const validFromOf = async (userId: string): Promise<number> =>
    userId === NULL_UUID ? 0 : users.tokensValidFrom(userId)

  /** After the second in which older tokens were withdrawn: claims count in seconds, and no token of that second may pass. */
  const issue = async (user: User): Promise<TokenPair> => {
    const validFrom = await validFromOf(user.id)
    if (validFrom === Number.MAX_SAFE_INTEGER) throw AuthErrors.NOT_ACTIVE()
    const issuedAt = Math.max(Math.floor(clock.now() / 1000), firstValidSecond(validFrom))
    return tokens.issue(user, options.random.uuid(), options.random.uuid(), issuedAt)
  }

  const issueHalf = async (user: User, { step, seconds }: SecondStep): Promise<TokenPair> => {
    const scope: HalfScope = step === 'verify' ? 'PRE_VERIFICATION_TOKEN' : 'MFA_CONFIGURATION_TOKEN'
    const issuedAt = Math.max(Math.floor(clock.now() / 1000), firstValidSecond(await validFromOf(user.id)))
    const token = await tokens.issueHalf(user, scope, options.random.uuid(), issuedAt, seconds)
    return { token, refreshToken: '', scope }
  }

  const halfLogin = async (
    token: string,
    scope: HalfScope,
  ): Promise<{ readonly user: User; readonly sessionId: string }> => {
    const claims = await tokens.verifyHalf(withoutScheme(token), scope, clock.now())
    const [user, validFrom] = await Promise.all([find(claims), validFromOf(claims.userId)])
    if (user === undefined || user.email !== claims.email || claims.issuedAt < firstValidSecond(validFrom))
      throw AuthErrors.TOKEN_EXPIRED()
    return { user, sessionId: claims.sessionId }
  }

  const issueOrAsk = async (user: User): Promise<TokenPair> => {
    const asked = await options.secondStep?.(user)
    if (asked !== undefined) return issueHalf(user, asked)
    const pair = await issue(user)
    await users.noteLogin(user.id)
    return pair
  }

  const authenticateLogin = async (token: string): Promise<Login> => {
    const claims = await verified.claimsOf(withoutScheme(token))
    if (await sessions.isEnded(claims.sessionId)) throw AuthErrors.TOKEN_EXPIRED()
    const [user, validFrom] = await Promise.all([find(claims), validFromOf(claims.userId)])
    if (user === undefined) throw AuthErrors.TOKEN_EXPIRED()
    if (claims.issuedAt < firstValidSecond(validFrom) || !stillTrue(claims, user)) throw AuthErrors.TOKEN_EXPIRED()
    return { principal: principalOf(user), sessionId: claims.sessionId, issuedAt: claims.issuedAt }
  }

  return {
    async login(username, password, address) {
      const user = await limiter.attempt(username, address, () => users.authenticate(username, password))
      if (user === undefined) throw AuthErrors.BAD_CREDENTIALS()
      return issueOrAsk(user)
    },
    halfLoggedIn: async (token, scope) => (await halfLogin(token, scope)).user,
    async authenticateToSetUp(token) {
      const { user, sessionId } = await halfLogin(token, 'MFA_CONFIGURATION_TOKEN')
      await options.checkSetUp?.(user, sessionId)
      return { ...principalOf(user), setUpSession: sessionId }
    },
    async loginVerified(token, address, check) {
      const { user } = await halfLogin(token, 'PRE_VERIFICATION_TOKEN')
      await limiter.attempt(`second factor of ${user.email}`, address, async () => {
        await check(user)
        return user
      })
      const pair = await issue(user)
      await users.noteLogin(user.id)
      return pair
    },
    async loginAs(userId) {
      const user = await users.find(userId)
      if (user === undefined) throw AuthErrors.TOKEN_EXPIRED()
      return issueOrAsk(user)
    },
    async issueFor(userId) {
      const user = await users.find(userId)
      if (user === undefined) throw AuthErrors.TOKEN_EXPIRED()
      return issue(user)
    },
    async refresh(refreshToken) {
      const claims = await tokens.verifyRefresh(refreshToken, clock.now())
      const [user, validFrom] = await Promise.all([find(claims), validFromOf(claims.userId)])
      const isEnded = await sessions.isEnded(claims.sessionId)
      if (user === undefined || isEnded || claims.issuedAt < firstValidSecond(validFrom)) {
        throw AuthErrors.TOKEN_OUTDATED()
      }
      return issue(user)
    },
    authenticate: async (token) => (await authenticateLogin(token)).principal,
    async authenticateApiKey(value) {
      const user = await options.userOfApiKey?.(value)
      if (user === undefined) throw AuthErrors.BAD_CREDENTIALS()
      return principalOf(user)
    },
    async loginPublic(customerId) {
      const user = await users.findPublic(customerId)
      if (user === undefined) throw AuthErrors.BAD_CREDENTIALS()
      return issue(user)
    },
    authenticateLogin,
    async loginByApiKey(value) {
      const user = await options.userOfApiKey?.(value)
      if (user === undefined) throw AuthErrors.API_KEY_UNKNOWN()
      return { principal: principalOf(user), sessionId: '', issuedAt: Math.floor(clock.now() / 1000), apiKey: value }
    },
    async stillHolds({ principal, sessionId, issuedAt, apiKey }) {
      if (apiKey !== undefined) return holdsStill(principal, () => options.userOfApiKey?.(apiKey))
      if (await sessions.isEnded(sessionId)) return false
      const [user, validFrom] = await Promise.all([find(principal), validFromOf(principal.userId)])
      return user !== undefined && issuedAt >= firstValidSecond(validFrom) && isSameUser(principal, user)
    },
    async logout(token) {
      const claims = await verified.claimsOf(withoutScheme(token))
      await sessions.end(claims.userId, claims.sessionId)
    },
    async changePassword(principal, current, next, address) {
      // Guessing the current password from a stolen session is guessing too.
      await limiter.attempt(principal.email, address, async () => {
        await users.changePassword(principal.userId, current, next, principal)
        return principal
      })
      const user = await users.find(principal.userId)
      if (user === undefined) throw AuthErrors.TOKEN_EXPIRED()
      return issue(user)
    },
    close: () => sessions.close(),
  }
}

/** An ended session is kept in mind for as long as any token of it could be good. */
async function longestLifetimeMs(keys: TokenKeySource): Promise<number> {
  const { signing, former } = await keys.current()
  return Math.max(...[signing, ...former].map(({ refreshLifetimeSeconds }) => refreshLifetimeSeconds)) * 1000
}

/** The first Unix second whose tokens are good; 0 where none was ever withdrawn. */
function firstValidSecond(validFromMs: number): number {
  return validFromMs <= 0 ? 0 : Math.floor(validFromMs / 1000) + 1
}

function withoutScheme(token: string): string {
  return token.startsWith('Bearer ') ? token.slice('Bearer '.length) : token
}

function stillTrue(claims: AccessClaims, user: User): boolean {
  return (
    claims.email === user.email &&
    claims.authority === user.authority &&
    claims.tenantId === (user.tenantId ?? NULL_UUID) &&
    claims.customerId === (user.customerId ?? NULL_UUID)
  )
}

/** A key that was switched off or has expired is refused with an error. */
async function holdsStill(principal: Principal, find: () => Promise<User | undefined> | undefined): Promise<boolean> {
  try {
    const user = await find()
    return user !== undefined && isSameUser(principal, user)
  } catch (error) {
    if (isMillraceError(error) && error.kind === 'denied') return false
    throw error
  }
}

function isSameUser(principal: Principal, user: User): boolean {
  return (
    principal.email === user.email &&
    principal.authority === user.authority &&
    principal.tenantId === user.tenantId &&
    principal.customerId === user.customerId
  )
}

function principalOf(user: User): Principal {
  const { id, email, authority, tenantId, customerId, firstName, lastName } = user
  return { userId: id, email, authority, tenantId, customerId, firstName, lastName }
}
