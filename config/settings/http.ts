import { settingsOf } from '../define.ts'

const http = settingsOf('HTTP, REST, WebSocket')

export const HTTP_SETTINGS = {
  httpBindAddress: http.address({
    name: 'HTTP_BIND_ADDRESS',
    default: '127.0.0.1',
    description: 'REST, WebSocket, page and device HTTP. A public address is refused while demo logins work.',
  }),
  httpBindPort: http.port({
    name: 'HTTP_BIND_PORT',
    default: 8080,
    description: 'Their port.',
  }),
  sslEnabled: http.flag({
    name: 'SSL_ENABLED',
    default: false,
    description: 'HTTPS and secure WebSocket on HTTP_BIND_PORT, and no plain ones.',
  }),
  sslCredentialsType: http.choice({
    name: 'SSL_CREDENTIALS_TYPE',
    default: 'PEM',
    choices: ['PEM'],
    description: 'Kind of the files. A key store: `openssl pkcs12` makes PEM files of it.',
  }),
  sslCertFile: http.file({
    name: 'SSL_PEM_CERT',
    description: 'Certificate with its chain; read again when it changes.',
  }),
  sslKeyFile: http.file({
    name: 'SSL_PEM_KEY',
    description: 'Its private key; none: it is in the file of the certificate.',
  }),
  sslKeyPassword: http.secret({
    name: 'SSL_PEM_KEY_PASSWORD',
    default: undefined,
    absent: 'none',
    allowed: 'a text that is not empty',
    accepts: (text) => text !== '',
    description: 'Opens the private key.',
  }),
  restMaxBodyBytes: http.integer({
    name: 'REST_MAX_BODY_SIZE',
    default: 16_777_216,
    min: 1024,
    max: 1 << 30,
    unit: 'bytes',
    description: 'Largest REST body; more is 413.',
  }),
  unauthenticatedMaxBodyBytes: http.integer({
    name: 'UNAUTHENTICATED_MAX_BODY_SIZE',
    default: 65_536,
    min: 1024,
    max: 1 << 30,
    unit: 'bytes',
    description:
      'Largest login body; of others, what is read before the sender is known. A larger one costs a second look at the token.',
  }),
  unauthenticatedMaxBodiesMiB: http.integer({
    name: 'UNAUTHENTICATED_MAX_BODIES_MIB',
    default: 64,
    min: 2,
    max: 65_536,
    unit: 'MiB',
    description:
      'Memory for all such bodies. Over half of it tokens are checked early; over it the oldest body gets 503.',
  }),
  trustedProxies: http.networks({
    name: 'TRUSTED_PROXIES',
    description: 'Proxies whose X-Forwarded-For is believed; callers behind others count as one address.',
  }),
  restMaxPageSize: http.integer({
    name: 'REST_MAX_PAGE_SIZE',
    default: 10_000,
    min: 100,
    max: 10_000_000,
    description: 'Rows of one page, held in memory. A larger pageSize is 400 where there are more rows.',
  }),
  metricsAccess: http.choice({
    name: 'METRICS_ACCESS',
    default: 'loopback',
    choices: ['loopback', 'anyone'],
    description: 'Who reads /metrics without token and ids: this machine (not through a proxy), or anyone.',
  }),
  metricsToken: http.secret({
    name: 'METRICS_TOKEN',
    default: undefined,
    absent: 'none',
    allowed: 'at least 16 characters, no spaces',
    accepts: (text) => /^[\x21-\x7e]{16,}$/.test(text),
    description: 'Bearer token that reads all of /metrics, with ids.',
  }),
  wsPendingBytes: http.integer({
    name: 'WS_MAX_PENDING_BYTES',
    default: 4_194_304,
    min: 65_536,
    max: 1 << 30,
    unit: 'bytes',
    description: 'What may wait for a slow WebSocket client; more closes it (1008).',
  }),
  wsMaxSessions: http.integer({
    name: 'WS_MAX_SESSIONS',
    default: 20_000,
    min: 0,
    max: 10_000_000,
    description: 'Logged-in WebSocket sessions; one more is closed (1008). 0: no limit.',
  }),
  wsMaxSessionsPerTenant: http.integer({
    name: 'WS_MAX_SESSIONS_PER_TENANT',
    default: 15_000,
    min: 0,
    max: 10_000_000,
    description: "Of these, one tenant's. 0: no limit.",
  }),
  wsMaxSubscriptionsPerTenant: http.integer({
    name: 'WS_MAX_SUBSCRIPTIONS_PER_TENANT',
    default: 200_000,
    min: 0,
    max: 100_000_000,
    description: 'WebSocket subscriptions of a tenant, 1 KiB each; one more closes its session (1008). 0: no limit.',
  }),
  wsMaxStrangers: http.integer({
    name: 'WS_MAX_UNAUTHENTICATED_SESSIONS',
    default: 1000,
    min: 1,
    max: 1_000_000,
    description: 'WebSocket sessions before login; one more closes the oldest.',
  }),
  wsConcurrentReads: http.integer({
    name: 'WS_CONCURRENT_READS',
    default: 32,
    min: 1,
    max: 1000,
    description: 'History reads for WebSocket at a time, megabytes each; a tenant gets half, a session an eighth.',
  }),
} as const
