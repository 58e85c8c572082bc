/**
 * The login of this browser and the calls made with it. Tokens lie in the local storage, where all tabs find them; scripts of other hosts
 * never run on these pages, as their policy says.
 */

/** @typedef {{ token: string, refreshToken: string }} Tokens */
/** @typedef {{ id: { id: string }, email: string, authority: import('./pages.js').Authority, customerId: { id: string } }} User */

const STORED = 'millrace.tokens'
/** Not much longer than the server takes at most: a link that is slow is not one that is cut. */
const PATIENCE_MS = 30_000
/** A file of 50 MiB over a slow line; or the lines of a file, of which each is saved. */
const UPLOAD_MS = 600_000
/** Letters of JSON beyond which it has the time of a file. */
const LARGE = 100_000
const TOKEN_EXPIRED = 11
const OWN_USER = '/api/auth/user'
/** Answered for who reads what is public too, and is no user. */
const FOR_ALL = '/api/dashboard/serverTime'

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

/** Of who reads what is public: beside the login of this browser, which stays. @type {Tokens | undefined} */
let borrowed

/** @param {Tokens} tokens */
export function borrowTokens(tokens) {
  borrowed = tokens
}

/** @returns {Tokens | undefined} */
export function storedTokens() {
  if (borrowed !== undefined) return borrowed
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

/** @param {Tokens} tokens */
export function keepTokens({ token, refreshToken }) {
  if (borrowed !== undefined) {
    borrowed = { token, refreshToken }
    return
  }
  localStorage.setItem(STORED, JSON.stringify({ token, refreshToken }))
}

export function forgetTokens() {
  if (borrowed !== undefined) {
    borrowed = undefined
    return
  }
  localStorage.removeItem(STORED)
}

/** A call that needs no login, or has `token`. The body is JSON, or the parts of a form. Throws `Refused`, `Unreachable`. @param {string} method @param {string} path @param {unknown} [body] @param {string} [token] */
export async function send(method, path, body, token) {
  const isForm = body instanceof FormData
  const content = isForm || body === undefined ? body : JSON.stringify(body)
  const isLarge = isForm || (typeof content === 'string' && content.length > LARGE)
  /** @type {Response} */
  let answer
  /** @type {string} */
  let text
  try {
    answer = await fetch(path, {
      method,
      headers: {
        ...(body === undefined || isForm ? {} : { 'Content-Type': 'application/json' }),
        ...(token === undefined ? {} : { 'X-Authorization': `Bearer ${token}` }),
      },
      ...(content === undefined ? {} : { body: content }),
      signal: AbortSignal.timeout(isLarge ? UPLOAD_MS : PATIENCE_MS),
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
  if (tokens === undefined) return ended()
  try {
    return await send(method, path, body, tokens.token)
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 401) throw error
    if (error.body['errorCode'] !== TOKEN_EXPIRED) {
      if (path === OWN_USER) return ended(tokens)
      // A password that was given wrong too often is refused so too: then the session goes on.
      await call('GET', OWN_USER)
      throw error
    }
  }
  return send(method, path, body, (await refreshed(tokens)).token)
}

/**
 * For a WebSocket, whose token can not be renewed on the way. The server is asked whether it is good: the clock of this browser may be wrong,
 * and a connection that was refused says no more than one that was lost.
 * @returns {Promise<string>}
 */
export async function freshToken() {
  await call('GET', borrowed === undefined ? OWN_USER : FOR_ALL)
  return storedTokens()?.token ?? ended()
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
  renewal ??= oneTabAtATime(() => renewed(old)).finally(() => (renewal = undefined))
  return renewal
}

/**
 * Of two tabs the second finds what the first one kept. Browsers lock for pages that are secure (HTTPS, or this machine) alone: elsewhere both
 * renew, the later pair is kept, and the other one expires.
 * @template Result @param {() => Promise<Result>} work @returns {Promise<Result>}
 */
function oneTabAtATime(work) {
  return navigator.locks === undefined ? work() : navigator.locks.request('millrace.renewal', work)
}

/** @param {Tokens} old @returns {Promise<Tokens>} */
async function renewed(old) {
  // Another tab may have been quicker.
  const quicker = keptSince(old)
  if (quicker !== undefined) return quicker
  /** @type {Tokens} */
  let tokens
  try {
    tokens = await send('POST', '/api/auth/token', { refreshToken: old.refreshToken })
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 401) throw error
    return keptSince(old) ?? ended(old)
  }
  if (storedTokens() === undefined) {
    // Another tab logged out meanwhile: that session is over, and this one is new.
    await send('POST', '/api/auth/logout', undefined, tokens.token)
    return ended()
  }
  keepTokens(tokens)
  return tokens
}

/** By another tab. @param {Tokens} old */
function keptSince(old) {
  const stored = storedTokens()
  return stored?.token === old.token ? undefined : stored
}

/** @type {() => void} */
let onEnd = () => undefined

/** Whichever call finds it first. @param {() => void} act */
export function onSessionEnd(act) {
  onEnd = act
}

/** @param {Tokens} [refused] others are not forgotten: another tab has kept them since @returns {never} */
function ended(refused) {
  if (storedTokens()?.token === refused?.token) forgetTokens()
  onEnd()
  throw new SessionEnded()
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
