/**
 * The login of this browser and the calls made with it. Tokens lie in the local storage, where all tabs find them; scripts of other hosts
 * never run on these pages, as their policy says.
 */

/** @typedef {{ token: string, refreshToken: string }} Tokens */
/** @typedef {{ email: string, authority: string, customerId: { id: string } }} User */

const STORED = 'millrace.tokens'
/** Not much longer than the server takes at most: a link that is slow is not one that is cut. */
const PATIENCE_MS = 30_000
const TOKEN_EXPIRED = 11
/** A token that ends sooner is not begun with. */
const SHORTEST_LIFE_MS = 30_000

/** Nobody is logged in (any more): the caller leads to the login. */
export class SessionEnded extends Error {}

/** The server's no, in its words. `body` is what it answered beside them. */
export class Refused extends Error {
  /** @param {number} status @param {string} message @param {Record<string, unknown>} body */
  constructor(status, message, body) {
    super(message)
    this.status = status
    this.body = body
  }
}

export class Unreachable extends Error {
  constructor() {
    super('The server does not answer. Try again.')
  }
}

/** @returns {Tokens | undefined} */
export function storedTokens() {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

/** @param {Tokens} tokens */
export function keepTokens({ token, refreshToken }) {
  localStorage.setItem(STORED, JSON.stringify({ token, refreshToken }))
}

export function forgetTokens() {
  localStorage.removeItem(STORED)
}

/** A call that needs no login, or has `token`. Throws `Refused`, `Unreachable`. @param {string} method @param {string} path @param {unknown} [body] @param {string} [token] */
export async function send(method, path, body, token) {
  /** @type {Response} */
  let answer
  /** @type {string} */
  let text
  try {
    answer = await fetch(path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(token === undefined ? {} : { 'X-Authorization': `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    text = await answer.text()
  } catch {
    throw new Unreachable()
  }
  const value = parsed(text)
  if (answer.ok) return value
  const said = typeof value === 'object' && value !== null ? value : {}
  throw new Refused(answer.status, said.message ?? `The server answered ${answer.status}.`, said)
}

/** A call as the user who is logged in. Throws `SessionEnded` too. @param {string} method @param {string} path @param {unknown} [body] */
export async function call(method, path, body) {
  const tokens = storedTokens()
  if (tokens === undefined) throw new SessionEnded()
  try {
    return await send(method, path, body, tokens.token)
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 401) throw error
    if (error.body['errorCode'] !== TOKEN_EXPIRED) return ended()
  }
  return send(method, path, body, (await refreshed(tokens)).token)
}

/** For a WebSocket, whose token can not be renewed on the way. @returns {Promise<string>} */
export async function freshToken() {
  const tokens = storedTokens()
  if (tokens === undefined) throw new SessionEnded()
  return endOf(tokens.token) > Date.now() + SHORTEST_LIFE_MS ? tokens.token : (await refreshed(tokens)).token
}

export async function logOut() {
  try {
    await call('POST', '/api/auth/logout')
  } finally {
    forgetTokens()
  }
}

/** @type {Promise<Tokens> | undefined} */
let renewal

/** Calls that find the same token too old wait for one renewal. @param {Tokens} old @returns {Promise<Tokens>} */
function refreshed(old) {
  renewal ??= renewed(old).finally(() => (renewal = undefined))
  return renewal
}

/** @param {Tokens} old @returns {Promise<Tokens>} */
async function renewed(old) {
  // Another tab may have been quicker.
  const stored = storedTokens()
  if (stored !== undefined && stored.token !== old.token) return stored
  try {
    const tokens = await send('POST', '/api/auth/token', { refreshToken: old.refreshToken })
    keepTokens(tokens)
    return tokens
  } catch (error) {
    if (error instanceof Refused && error.status === 401) return ended()
    throw error
  }
}

/** @returns {never} */
function ended() {
  forgetTokens()
  throw new SessionEnded()
}

/** Milliseconds since 1970; 0 for what is no token. @param {string} token */
function endOf(token) {
  try {
    const claims = token.split('.')[1] ?? ''
    return Number(JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))).exp) * 1000
  } catch {
    return 0
  }
}

/** @param {string} text */
function parsed(text) {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
