import { settingsOf } from '../define.ts'

const http = settingsOf('HTTP, REST, WebSocket')

export const HTTP_SETTINGS = {
  httpBindAddress: http.address({
    name: 'HTTP_BIND_ADDRESS',
    default: '127.0.0.1',
    description:
      'Address of REST, WebSocket, web page and device HTTP API. A public one is refused while demo logins are in place.',
  }),
  httpBindPort: http.port({
    name: 'HTTP_BIND_PORT',
    default: 8080,
    description: 'Port of REST, WebSocket, web page and device HTTP API.',
  }),
  httpMaxPayloadBytes: http.integer({
    name: 'HTTP_TRANSPORT_MAX_PAYLOAD_SIZE',
    default: 4_194_304,
    min: 1024,
    max: 1 << 30,
    unit: 'bytes',
    description: 'Largest body of a device request; over it the answer is 413.',
  }),
  restMaxBodyBytes: http.integer({
    name: 'REST_MAX_BODY_SIZE',
    default: 16_777_216,
    min: 1024,
    max: 1 << 30,
    unit: 'bytes',
    description: 'Largest body of a REST request; over it the answer is 413.',
  }),
  unauthenticatedMaxBodyBytes: http.integer({
    name: 'UNAUTHENTICATED_MAX_BODY_SIZE',
    default: 65_536,
    min: 1024,
    max: 1 << 30,
    unit: 'bytes',
    description:
      'How much of a body is read before its sender is known; also the largest body of a login. A larger body costs one more look at the token.',
  }),
  unauthenticatedMaxBodiesMiB: http.integer({
    name: 'UNAUTHENTICATED_MAX_BODIES_MIB',
    default: 64,
    min: 2,
    max: 65_536,
    unit: 'MiB',
    description:
      'Memory for all bodies together whose senders are not known yet. Over half of it a body in pieces costs a look at its token at once; over it the oldest gets 503 and its connection is closed.',
  }),
  trustedProxies: http.networks({
    name: 'TRUSTED_PROXIES',
    description:
      'Proxies whose X-Forwarded-For says who calls. Limits by address count everybody behind a proxy that is not named here as one caller.',
  }),
  restMaxPageSize: http.integer({
    name: 'REST_MAX_PAGE_SIZE',
    default: 10_000,
    min: 100,
    max: 10_000_000,
    unit: 'rows',
    description: 'Largest pageSize of a list; over it the answer is 400. A page is held in memory as a whole.',
  }),
  metricsAccess: http.choice({
    name: 'METRICS_ACCESS',
    default: 'loopback',
    choices: ['loopback', 'anyone'],
    description:
      'Who reads /metrics without a token: loopback is this machine (what a proxy on it forwards is not), anyone is everybody who reaches the port. Neither sees ids of tenants and rule chains.',
  }),
  metricsToken: http.secret({
    name: 'METRICS_TOKEN',
    default: undefined,
    absent: 'none',
    allowed: 'a token of at least 16 characters without spaces',
    accepts: (text) => /^[\x21-\x7e]{16,}$/.test(text),
    description:
      'Bearer token with which Prometheus reads all of /metrics, ids too. The login of a system administrator does as well.',
  }),
  httpRequestTimeoutMs: http.integer({
    name: 'HTTP_MAX_REQUEST_TIMEOUT',
    default: 300_000,
    min: 1000,
    max: 3_600_000,
    unit: 'ms',
    description: 'Longest a device may ask a long poll to wait.',
  }),
  httpMaxLongPolls: http.integer({
    name: 'HTTP_MAX_LONG_POLLS',
    default: 10_000,
    min: 1,
    max: 10_000_000,
    unit: 'polls',
    description:
      'Long polls of devices that may wait at once; over it the answer is 503. Each keeps a connection open.',
  }),
  httpMaxLongPollsPerTenant: http.integer({
    name: 'HTTP_MAX_LONG_POLLS_PER_TENANT',
    default: 7500,
    min: 1,
    max: 10_000_000,
    unit: 'polls',
    description: 'Of them those of one tenant, so that one leaves room for the others.',
  }),
  wsPendingBytes: http.integer({
    name: 'WS_MAX_PENDING_BYTES',
    default: 4_194_304,
    min: 65_536,
    max: 1 << 30,
    unit: 'bytes',
    description: 'Most that waits for one slow WebSocket client before it is closed with 1008.',
  }),
  wsMaxSessions: http.integer({
    name: 'WS_MAX_SESSIONS',
    default: 20_000,
    min: 0,
    max: 10_000_000,
    unit: 'sessions, 0 is without limit',
    description: 'WebSocket sessions with a login of this process; one more is closed with 1008.',
  }),
  wsMaxSessionsPerTenant: http.integer({
    name: 'WS_MAX_SESSIONS_PER_TENANT',
    default: 15_000,
    min: 0,
    max: 10_000_000,
    unit: 'sessions, 0 is without limit',
    description: 'Of them those of one tenant, so that one leaves room for the others.',
  }),
  wsMaxSubscriptionsPerTenant: http.integer({
    name: 'WS_MAX_SUBSCRIPTIONS_PER_TENANT',
    default: 200_000,
    min: 0,
    max: 100_000_000,
    unit: 'subscriptions, 0 is without limit',
    description:
      'WebSocket subscriptions of one tenant; one more closes its session with 1008. Each takes about 1 KiB.',
  }),
  wsMaxStrangers: http.integer({
    name: 'WS_MAX_UNAUTHENTICATED_SESSIONS',
    default: 1000,
    min: 1,
    max: 1_000_000,
    unit: 'sessions',
    description: 'WebSocket sessions that have not logged in yet; one more, and the oldest of them is closed.',
  }),
  wsConcurrentReads: http.integer({
    name: 'WS_CONCURRENT_READS',
    default: 32,
    min: 1,
    max: 1000,
    unit: 'reads',
    description:
      'Reads of history for WebSocket clients that are under way at a time; one tenant has half of them, one session an eighth. Each may hold megabytes.',
  }),
} as const
