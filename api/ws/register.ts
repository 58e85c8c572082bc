/** Puts the WebSocket endpoints on the server. Source: `websocket-api.md` 1. */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type { Log } from '../../model/log.ts'
import type { Principal } from '../../model/principal.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { HttpServer, WebSocketConnection, WebSocketHandler, WebSocketOptions } from '../../server/http-server.ts'
import type { ReadServices } from './read-services.ts'
import type { EnvelopeKind } from './commands.ts'
import { Rereads } from './rereads.ts'
import { CLOSE, Session, type SessionWorld } from './session.ts'
import type { Subscription } from './subscription.ts'
import { TenantCounts } from './tenant-counts.ts'

export interface WebSocketLimits {
  /** Default 32,768. */
  readonly maxMessageBytes?: number
  /** Bytes of a slow client's socket buffer; default 4 MiB. */
  readonly maxPendingBytes?: number
  /** Frames kept for a slow client beyond its socket's buffer; default 1,000. */
  readonly pendingFrames?: number
  /** Commands of a session under way at a time; default 1,000. */
  readonly pendingCommands?: number
  /** Live subscriptions of a session; default 10,000. */
  readonly subscriptions?: number
  /** 0, the default, is without limit. */
  readonly sessionsPerTenant?: number
  /** 0, the default, is without limit. */
  readonly subscriptionsPerTenant?: number
}

export interface WebSocketApiOptions {
  readonly server: HttpServer
  readonly services: ReadServices
  readonly feed: ChangeFeed
  /** Throws a `denied` error where the token is no good. */
  readonly authenticate: (token: string) => Promise<Principal>
  readonly clock: Clock
  readonly log: Log
  readonly limits?: WebSocketLimits
}

export interface WebSocketApi {
  figures(): { readonly sessions: number; readonly subscriptions: number }
  /** Closes every session with 1001. Idempotent. */
  close(): Promise<void>
}

const PING_INTERVAL_MS = 10_000

/** Before `server.listen`. */
export function registerWebSocketApi(options: WebSocketApiOptions): WebSocketApi {
  const { server, clock, limits = {} } = options
  const sessions = new Map<WebSocketConnection, Session>()
  const counts = new TenantCounts({
    sessionsPerTenant: limits.sessionsPerTenant ?? 0,
    subscriptionsPerTenant: limits.subscriptionsPerTenant ?? 0,
  })
  const world: SessionWorld = {
    services: options.services,
    feed: options.feed,
    authenticate: options.authenticate,
    clock,
    log: options.log,
    counts,
    limits: {
      pendingFrames: limits.pendingFrames ?? 1000,
      pendingCommands: limits.pendingCommands ?? 1000,
      subscriptions: limits.subscriptions ?? 10_000,
    },
    atTurnEnd: turnEnd(clock),
    rereads: new Rereads(clock),
  }
  const socketOptions: WebSocketOptions = {
    maxMessageBytes: limits.maxMessageBytes ?? 32_768,
    maxPendingBytes: limits.maxPendingBytes ?? 4 * 1024 * 1024,
  }
  let closed = false
  let pings: TimerHandle | undefined

  function handler(kind: EnvelopeKind): WebSocketHandler {
    return {
      opened(connection, _path, query) {
        if (closed) return connection.close(CLOSE.going, 'Server is stopping')
        const session = new Session(connection, kind, world)
        sessions.set(connection, session)
        pings ??= clock.after(PING_INTERVAL_MS, ping)
        const token = new URLSearchParams(query).get('token')
        if (token !== null && token !== '') session.openedWithToken(token)
      },
      message: (connection, text) => sessions.get(connection)?.message(text),
      pong: (connection) => sessions.get(connection)?.pong(),
      drained: (connection) => sessions.get(connection)?.drained(),
      closed(connection) {
        sessions.get(connection)?.letGo()
        sessions.delete(connection)
      },
    }
  }

  /** One timer for all sessions; it rests while there are none. */
  function ping(): void {
    pings = undefined
    for (const session of sessions.values()) session.tick()
    if (sessions.size > 0 && !closed) pings = clock.after(PING_INTERVAL_MS, ping)
  }

  server.webSocket('/api/ws', handler('new'), socketOptions)
  server.webSocket('/api/ws/plugins/telemetry', handler('legacy'), socketOptions)
  server.webSocket('/api/ws/*', unknownPath(), socketOptions)

  return {
    figures: () => ({ sessions: sessions.size, subscriptions: counts.subscriptions }),
    async close() {
      closed = true
      pings?.cancel()
      for (const session of sessions.values()) session.end(CLOSE.going, 'Server is stopping')
      sessions.clear()
    },
  }
}

/** Collects subscriptions that have something to send; each sends one frame when the turn ends. */
function turnEnd(clock: Clock): (subscription: Subscription) => void {
  let waiting: Subscription[] = []
  return (subscription) => {
    waiting.push(subscription)
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
