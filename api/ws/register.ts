/** Puts the WebSocket endpoints on the server. Source: `websocket-api.md` 1. */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type { Log } from '../../model/log.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { HttpServer, WebSocketConnection, WebSocketHandler, WebSocketOptions } from '../../server/http-server.ts'
import type { ReadServices } from './read-services.ts'
import type { EnvelopeKind } from './commands.ts'
import { LoginChecks } from './login-checks.ts'
import { ReadTurns, type ReadLimits } from './read-turns.ts'
import { Rereads } from './rereads.ts'
import { CLOSE, Session, type SessionWorld } from './session.ts'
import type { Flushable } from './subscription.ts'
import { SessionCounts } from './session-counts.ts'

export interface WebSocketLimits {
  /** Default 32,768. */
  readonly maxMessageBytes?: number
  /** Bytes in a slow client's socket buffer, and as many that wait for it; default 4 MiB. */
  readonly maxPendingBytes?: number
  /** Frames kept for a slow client beyond its socket's buffer; default 1,000. */
  readonly pendingFrames?: number
  /** Commands of a session under way at a time; default 1,000. */
  readonly pendingCommands?: number
  /** Live subscriptions of a session; default 10,000. */
  readonly subscriptions?: number
  /** Reads of history under way in all; default 32. One tenant has half of them, one session an eighth. */
  readonly concurrentReads?: number
  /** Sessions that have logged in; 0, the default here and of the next two, is without limit. */
  readonly sessions?: number
  readonly sessionsPerTenant?: number
  readonly subscriptionsPerTenant?: number
  /** Sessions that have not logged in yet: one more, and the oldest of them is closed. Default 1,000. */
  readonly strangers?: number
}

export interface WebSocketApiOptions {
  readonly server: HttpServer
  readonly services: ReadServices
  readonly feed: ChangeFeed
  /** Throws a `denied` error where the token is no good. */
  readonly authenticate: SessionWorld['authenticate']
  readonly loginByApiKey: SessionWorld['loginByApiKey']
  readonly limitsOf: SessionWorld['limitsOf']
  readonly updatesRefused: SessionWorld['updatesRefused']
  readonly stillHolds: SessionWorld['stillHolds']
  readonly clock: Clock
  readonly log: Log
  readonly limits?: WebSocketLimits
}

export interface WebSocketApi {
  figures(): Readonly<Record<'sessions' | 'subscriptions' | 'readsUnderWay' | 'sessionsWaitingToRead', number>>
  /** Closes every session with 1001. Idempotent. */
  close(): Promise<void>
}

const PING_INTERVAL_MS = 10_000
const DEFAULT_PENDING_BYTES = 4 * 1024 * 1024

/** Before `server.listen`. */
export function registerWebSocketApi(options: WebSocketApiOptions): WebSocketApi {
  const { server, clock, limits = {} } = options
  const sessions = new Map<WebSocketConnection, Session>()
  const counts = new SessionCounts({
    sessions: limits.sessions ?? 0,
    sessionsPerTenant: limits.sessionsPerTenant ?? 0,
    subscriptionsPerTenant: limits.subscriptionsPerTenant ?? 0,
  })
  const world: SessionWorld = {
    services: options.services,
    feed: options.feed,
    authenticate: options.authenticate,
    loginByApiKey: options.loginByApiKey,
    limitsOf: options.limitsOf,
    updatesRefused: options.updatesRefused,
    stillHolds: options.stillHolds,
    reads: new ReadTurns(readLimits(limits.concurrentReads ?? 32)),
    clock,
    log: options.log,
    counts,
    limits: {
      pendingFrames: limits.pendingFrames ?? 1000,
      pendingBytes: limits.maxPendingBytes ?? DEFAULT_PENDING_BYTES,
      pendingCommands: limits.pendingCommands ?? 1000,
      subscriptions: limits.subscriptions ?? 10_000,
    },
    atTurnEnd: turnEnd(clock),
    rereads: new Rereads(clock, (error) => options.log.warn('Live values could not be read again', { error })),
  }
  const socketOptions: WebSocketOptions = {
    maxMessageBytes: limits.maxMessageBytes ?? 32_768,
    maxPendingBytes: limits.maxPendingBytes ?? DEFAULT_PENDING_BYTES,
  }
  const strangers = new Strangers(limits.strangers ?? 1000)
  let closed = false
  let pings: TimerHandle | undefined

  function handler(kind: EnvelopeKind): WebSocketHandler {
    return {
      opened(connection, _path, query) {
        if (closed) return connection.close(CLOSE.going, 'Server is stopping')
        const session = new Session(connection, kind, world)
        sessions.set(connection, session)
        strangers.add(session)
        pings ??= clock.after(PING_INTERVAL_MS, ping)
        const token = new URLSearchParams(query).get('token')
        if (token !== null && token !== '') session.openedWithToken(token)
      },
      message: (connection, text) => sessions.get(connection)?.message(text),
      pong: (connection) => sessions.get(connection)?.pong(),
      drained: (connection) => sessions.get(connection)?.drained(),
      closed(connection) {
        const session = sessions.get(connection)
        if (session === undefined) return
        session.letGo()
        sessions.delete(connection)
        strangers.remove(session)
      },
    }
  }

  /** One timer for all sessions; it rests while there are none. */
  function ping(): void {
    pings = undefined
    for (const session of sessions.values()) session.tick()
    if (sessions.size > 0 && !closed) pings = clock.after(PING_INTERVAL_MS, ping)
  }

  const checks = new LoginChecks(clock, () => sessions.values())
  const stops = [
    options.feed.listenToAll(['user-tokens-withdrawn'], ({ entity }) =>
      checks.ask((session) => session.isLoggingIn || session.userId === entity.id),
    ),
    options.feed.listenToAll(['session-ended'], ({ sessionId }) =>
      checks.ask((session) => session.isLoggingIn || session.sessionId === sessionId),
    ),
    options.feed.listenToAll(['entity-deleted'], ({ entity }) => {
      if (entity.entityType === 'API_KEY') checks.ask((session) => session.isLoggingIn || session.hasApiKey)
    }),
    options.feed.onGap(() => checks.ask(() => true)),
  ]

  server.webSocket('/api/ws', handler('new'), socketOptions)
  server.webSocket('/api/ws/plugins/telemetry', handler('legacy'), socketOptions)
  server.webSocket('/api/ws/plugins/notifications', handler('notifications'), socketOptions)
  server.webSocket('/api/ws/*', unknownPath(), socketOptions)

  return {
    figures: () => ({ sessions: sessions.size, subscriptions: counts.subscriptions, ...world.reads.figures }),
    async close() {
      closed = true
      pings?.cancel()
      checks.close()
      for (const stop of stops) stop()
      for (const session of sessions.values()) session.end(CLOSE.going, 'Server is stopping')
      sessions.clear()
    },
  }
}

/** Sessions of nobody, oldest first: who has waited longest is the least likely to log in. */
class Strangers {
  private readonly limit: number
  private readonly sessions = new Set<Session>()

  constructor(limit: number) {
    this.limit = limit
  }

  add(session: Session): void {
    this.sessions.add(session)
    if (this.sessions.size <= this.limit) return
    for (const each of this.sessions) if (each.userId !== undefined) this.sessions.delete(each)
    const [oldest] = this.sessions
    if (oldest === undefined || this.sessions.size <= this.limit) return
    this.sessions.delete(oldest)
    oldest.end(CLOSE.policy, 'Auth cmd is missing')
  }

  remove(session: Session): void {
    this.sessions.delete(session)
  }
}

function readLimits(total: number): ReadLimits {
  return { total, perTenant: Math.max(1, Math.floor(total / 2)), perSession: Math.max(1, Math.floor(total / 8)) }
}

/** Collects subscriptions that have something to send; each sends one frame when the turn ends. */
function turnEnd(clock: Clock): (sender: Flushable) => void {
  let waiting: Flushable[] = []
  return (sender) => {
    waiting.push(sender)
    if (waiting.length > 1) return
    clock.soon(() => {
      const ready = waiting
      waiting = []
      for (const each of ready) each.flush()
    })
  }
}

function unknownPath(): WebSocketHandler {
  const nothing = (): void => undefined
  return {
    opened: (connection) => connection.close(CLOSE.unparseable, 'Unknown session type'),
    message: nothing,
    pong: nothing,
    drained: nothing,
    closed: nothing,
  }
}
