/** Every setting of Millrace. `docs/reference/settings.md` is made from this file (`npm run docs`). */
import { settingsOf, type Setting } from './define.ts'

const ROLES = ['transport', 'engine', 'api'] as const

const start = settingsOf('Start')
const http = settingsOf('HTTP, REST, WebSocket')
const mqtt = settingsOf('MQTT')
const others = settingsOf('Other transports')
const auth = settingsOf('Authentication')
const storage = settingsOf('Storage')
const link = settingsOf('Link')
const queue = settingsOf('Queue')
const scripts = settingsOf('Scripts')
const devices = settingsOf('Devices')

export const SETTINGS = {
  dataDir: start.text({
    name: 'DATA_DIR',
    default: 'data',
    description: 'Folder in which the embedded default keeps its files; made where it is absent.',
  }),
  demo: start.flag({
    name: 'DEMO',
    default: true,
    description:
      'First start seeds the demo tenant, its logins and device; false seeds one system administrator with a random password.',
  }),
  roles: start.choices({
    name: 'MILLRACE_ROLES',
    default: ROLES,
    choices: ROLES,
    description:
      'What this process does: transport takes what devices send, engine runs rule chains, api serves REST, WebSocket and the web page. Anything less than all needs LINK=jetstream and shared stores.',
  }),
  readyJson: start.flag({
    name: 'READY_JSON',
    default: false,
    description: 'Print one line of JSON with the real ports once ready, instead of the friendly text.',
  }),
  logLevel: start.choice({
    name: 'LOG_LEVEL',
    default: 'info',
    choices: ['debug', 'info', 'warn', 'error', 'silent'],
    description: 'Least severe lines that the system log (standard error, JSON lines) shows.',
  }),
  nodeLogLinesPerSecond: start.integer({
    name: 'LOG_NODE_LINES_PER_SECOND',
    default: 200,
    min: 1,
    max: 100_000,
    unit: 'lines/s',
    description:
      'Lines a second that all log nodes together may write; what is beyond is counted and told in one line.',
  }),
  stopTimeoutMs: start.integer({
    name: 'STOP_TIMEOUT_MS',
    default: 10_000,
    min: 1000,
    max: 600_000,
    unit: 'ms',
    description:
      'How long a stop may take. Half of it is for requests under way; after it the process ends hard, and what was not settled is delivered again at the next start.',
  }),

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

  mqttEnabled: mqtt.flag({ name: 'MQTT_ENABLED', default: true, description: 'Whether the MQTT transport runs.' }),
  mqttBindAddress: mqtt.address({
    name: 'MQTT_BIND_ADDRESS',
    default: '127.0.0.1',
    description: 'Address of the MQTT transport.',
  }),
  mqttBindPort: mqtt.port({ name: 'MQTT_BIND_PORT', default: 1883, description: 'Port of the MQTT transport.' }),
  mqttMaxPayloadBytes: mqtt.integer({
    name: 'NETTY_MAX_PAYLOAD_SIZE',
    default: 65_536,
    min: 1024,
    max: 268_435_455,
    unit: 'bytes',
    description: 'Largest MQTT packet; a longer one closes the connection (MQTT 5: 0x95).',
  }),
  mqttInFlightPerDevice: mqtt.integer({
    name: 'MQTT_MSG_QUEUE_SIZE_PER_DEVICE_LIMIT',
    default: 1000,
    min: 1,
    max: 65_535,
    unit: 'messages',
    description: 'Publishes of one session that may wait for their acknowledgement; beyond it the socket is not read.',
  }),
  mqttMaxConnections: mqtt.integer({
    name: 'MQTT_MAX_CONNECTIONS',
    default: 100_000,
    min: 1,
    max: 10_000_000,
    unit: 'connections',
    description: 'MQTT connections of this process; more are closed at once.',
  }),
  mqttMaxConnectionsPerTenant: mqtt.integer({
    name: 'MQTT_MAX_CONNECTIONS_PER_TENANT',
    default: 75_000,
    min: 1,
    max: 10_000_000,
    unit: 'connections',
    description:
      'Of them those of one tenant, so that one leaves room for the others; more are refused (CONNACK 3, MQTT 5: 0x97).',
  }),
  mqttMaxSilentConnections: mqtt.integer({
    name: 'MQTT_MAX_SILENT_CONNECTIONS',
    default: 10_000,
    min: 1,
    max: 10_000_000,
    unit: 'connections',
    description:
      'Connections that have sent no CONNECT yet; one more, and the oldest of them is closed. Below a wave of reconnects it cuts off devices on slow lines.',
  }),

  coapBindPort: others.port({
    name: 'COAP_BIND_PORT',
    default: 5683,
    description: 'Port of the CoAP transport (not built yet: nothing listens).',
  }),
  lwm2mBindPort: others.port({
    name: 'LWM2M_BIND_PORT',
    default: 5685,
    description: 'Port of the LwM2M transport (not built yet: nothing listens).',
  }),

  jwtSigningKey: auth.secret({
    name: 'JWT_TOKEN_SIGNING_KEY',
    default: undefined,
    description:
      'Key that signs the tokens of users. Made at first start and kept in the data folder where none is given.',
    absent: 'made at first start',
    allowed: 'Base64 of at least 64 bytes (`openssl rand -base64 64`)',
    accepts: (text) => /^[A-Za-z0-9+/]+={0,2}$/.test(text) && Buffer.from(text, 'base64').length >= 64,
  }),
  jwtExpirationSeconds: auth.integer({
    name: 'JWT_TOKEN_EXPIRATION_TIME',
    default: 9000,
    min: 60,
    max: 31_536_000,
    unit: 's',
    description: 'Life of an access token.',
  }),
  jwtRefreshExpirationSeconds: auth.integer({
    name: 'JWT_REFRESH_TOKEN_EXPIRATION_TIME',
    default: 604_800,
    min: 900,
    max: 31_536_000,
    unit: 's',
    description: 'Life of a refresh token.',
  }),
  jwtIssuer: auth.text({
    name: 'JWT_TOKEN_ISSUER',
    default: 'thingsboard.io',
    description: 'Issuer named in the tokens; the default is what existing clients expect.',
  }),

  loginFailures: auth.integer({
    name: 'LOGIN_MAX_FAILURES',
    default: 10,
    min: 1,
    max: 1000,
    unit: 'failures',
    description:
      'Failed logins in a row that lock a user for the address they came from, and for no other, for LOGIN_LOCK_SECONDS.',
  }),
  loginLockSeconds: auth.integer({
    name: 'LOGIN_LOCK_SECONDS',
    default: 30,
    min: 1,
    max: 86_400,
    unit: 's',
    description: 'How long such a lock lasts.',
  }),
  loginFailuresPerAddress: auth.integer({
    name: 'LOGIN_MAX_FAILURES_PER_ADDRESS',
    default: 100,
    min: 1,
    max: 1_000_000,
    unit: 'failures',
    description:
      'Failed logins within LOGIN_WINDOW_SECONDS after which an address (of IPv6: a /64) gets 429 until they are over; users who have logged in from it before are let in. Behind a proxy, name it in TRUSTED_PROXIES.',
  }),
  loginFailuresPerUser: auth.integer({
    name: 'LOGIN_MAX_FAILURES_PER_USER',
    default: 100,
    min: 1,
    max: 1_000_000,
    unit: 'failures',
    description:
      'Failed logins of one user from all addresses within LOGIN_WINDOW_SECONDS that lock the user until they are over, but for addresses the user has logged in from before.',
  }),
  loginWindowSeconds: auth.integer({
    name: 'LOGIN_WINDOW_SECONDS',
    default: 900,
    min: 1,
    max: 86_400,
    unit: 's',
    description: 'How long failed logins are counted together.',
  }),

  durability: storage.choice({
    name: 'DURABILITY',
    default: 'power-cut',
    choices: ['power-cut', 'process-death'],
    description:
      'What an acknowledged message survives: power-cut syncs every frame and batch to the disk, process-death leaves that to the operating system.',
  }),
  entitiesDatabase: storage.choice({
    name: 'DATABASE_ENTITIES_TYPE',
    default: 'sqlite',
    choices: ['sqlite', 'postgres'],
    description:
      'Where entities, attributes, rule chains and users are kept: sqlite is a file in the data folder, postgres the database of DATABASE_URL.',
  }),
  timeSeriesDatabase: storage.choice({
    name: 'DATABASE_TS_TYPE',
    default: 'embedded',
    choices: ['embedded', 'sql', 'questdb'],
    description:
      'Where time series are kept: embedded in the data folder, sql in the database of DATABASE_URL, questdb in QUESTDB_URL with the latest values in DATABASE_URL.',
  }),
  databaseUrl: storage.url({
    name: 'DATABASE_URL',
    default: 'postgres://postgres@127.0.0.1:5432/millrace',
    schemes: ['postgres', 'postgresql'],
    description:
      'The PostgreSQL database, with user and password. It must exist; the tables are made. TLS as libpq names it: ?sslmode=verify-full, with sslrootcert, sslcert and sslkey for the paths of PEM files.',
  }),
  databaseConnections: storage.integer({
    name: 'DATABASE_CONNECTIONS',
    default: 8,
    min: 2,
    max: 1000,
    unit: 'connections',
    description: 'Most connections to PostgreSQL of this process.',
  }),
  timeSeriesPartitioning: storage.choice({
    name: 'SQL_POSTGRES_TS_KV_PARTITIONING',
    default: 'MONTHS',
    choices: ['DAYS', 'MONTHS', 'YEARS', 'INDEFINITE'],
    description: 'Time span of one partition of the history in PostgreSQL.',
  }),
  timeSeriesTtlSeconds: storage.integer({
    name: 'SQL_TTL_TS_TS_KEY_VALUE_TTL',
    default: 0,
    min: 0,
    max: 10_000_000_000,
    unit: 's',
    description:
      'History older than this is removed in PostgreSQL and QuestDB, by whole partitions; 0 keeps it for ever.',
  }),
  questDbPartition: storage.choice({
    name: 'QUESTDB_PARTITION_BY',
    default: 'DAY',
    choices: ['HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'],
    description:
      'Time span of one partition of the history in QuestDB, when its table is made. MONTH where devices send much late data.',
  }),
  questDbUrl: storage.url({
    name: 'QUESTDB_URL',
    default: 'http://127.0.0.1:9000',
    schemes: ['http', 'https'],
    description:
      'HTTP address of QuestDB, with user and password where it asks for them. With DURABILITY=power-cut its cairo.commit.mode must be sync.',
  }),
  questDbToken: storage.secret({
    name: 'QUESTDB_TOKEN',
    default: undefined,
    absent: 'none',
    allowed: 'a token without spaces',
    accepts: (text) => /^[\x21-\x7e]+$/.test(text),
    description: 'Bearer token for QuestDB, in the place of user and password.',
  }),
  questDbCaFile: storage.file({
    name: 'QUESTDB_TLS_CA_FILE',
    description: 'PEM file of the authority that QuestDB’s certificate is of, where the system does not know it.',
  }),
  cacheAttributes: storage.flag({
    name: 'CACHE_ATTRIBUTES_ENABLED',
    default: true,
    description: 'Keep attributes that were read in memory, within CACHE_ATTRIBUTES_MB.',
  }),
  cacheAttributesMb: storage.integer({
    name: 'CACHE_ATTRIBUTES_MB',
    default: 64,
    min: 1,
    max: 65_536,
    unit: 'MiB',
    description:
      'Memory for attributes that were read: those of entities read longest ago are dropped beyond it, and cost a read of the store when they are asked for again.',
  }),

  link: link.choice({
    name: 'LINK',
    default: 'segment-log',
    choices: ['segment-log', 'jetstream'],
    description:
      'What carries messages to the rule engine: segment-log is a log in the data folder, jetstream the NATS servers of NATS_URL.',
  }),
  natsUrl: link.url({
    name: 'NATS_URL',
    default: 'nats://127.0.0.1:4222',
    schemes: ['nats', 'tls'],
    description:
      'NATS servers, separated by commas, with user:password@ or token@ where they ask for it; JetStream must be on. tls:// refuses servers without TLS, nats:// takes it where it is offered. Their sync_interval decides what a power cut loses.',
  }),
  natsCaFile: link.file({
    name: 'NATS_TLS_CA_FILE',
    description:
      'PEM file of the authority that the NATS servers’ certificates are of, where the system does not know it. Servers without TLS are refused then.',
  }),
  natsCertFile: link.file({
    name: 'NATS_TLS_CERT_FILE',
    description: 'PEM file of the client certificate, for NATS servers that ask for one.',
  }),
  natsKeyFile: link.file({ name: 'NATS_TLS_KEY_FILE', description: 'PEM file of the key of that certificate.' }),
  natsCredsFile: link.file({
    name: 'NATS_CREDS_FILE',
    description: 'Credentials file for NATS (JWT and nkey), or one with the seed of an nkey alone.',
  }),
  natsPrefix: link.word({
    name: 'NATS_PREFIX',
    default: 'millrace',
    description: 'First word of the names of streams and subjects: two clusters may share the servers under two names.',
  }),
  natsReplicas: link.choice({
    name: 'NATS_REPLICAS',
    default: '1',
    choices: ['1', '3', '5'],
    description: 'Copies of each stream, each on a server of its own: 3 survives the loss of any one server.',
  }),
  natsMonitorUrls: link.urls({
    name: 'NATS_MONITOR_URLS',
    schemes: ['http', 'https'],
    description:
      'HTTP monitoring addresses of the NATS servers (their http_port), by which it is checked at the start that they sync what they store.',
  }),
  natsSynced: link.choice({
    name: 'NATS_SYNCED',
    default: 'unknown',
    choices: ['unknown', 'always'],
    description:
      'always is your word that every NATS server runs with sync_interval always, where no monitoring address can tell.',
  }),
  natsStrict: link.flag({
    name: 'NATS_STRICT',
    default: false,
    description:
      'Refuse to start where it is not known that what NATS acknowledges survives a power cut; false warns in the log and in /health.',
  }),
  natsMaxPartitionMiB: link.integer({
    name: 'NATS_MAX_PARTITION_MIB',
    default: 256,
    min: 16,
    max: 1_048_576,
    unit: 'MiB',
    description:
      'Most that waits in one partition; over it devices are refused until the engine has caught up. NATS sets this much aside for each partition: its max_file_store must have room for all.',
  }),
  natsStreams: link.integer({
    name: 'NATS_STREAMS',
    default: 3,
    min: 1,
    max: 1000,
    unit: 'streams',
    description:
      'JetStream streams that the partitions are shared out to: at most so many engines share the work, and each stream costs a write of its own. Fixed at the first start.',
  }),
  linkRetentionMinutes: link.integer({
    name: 'LINK_RETENTION_MINUTES',
    default: 60,
    min: 0,
    max: 10_080,
    unit: 'minutes',
    description: 'How long processed messages stay in the link to be read again; 0 removes them at once.',
  }),
  linkRetentionMiB: link.integer({
    name: 'LINK_RETENTION_MIB',
    default: 256,
    min: 0,
    max: 1_048_576,
    unit: 'MiB',
    description:
      'Most that processed messages take in the link, whatever their age. NATS sets it aside beside the partitions; a larger one makes the start of the embedded link longer.',
  }),
  publishTimeoutMs: link.integer({
    name: 'LINK_PUBLISH_TIMEOUT_MS',
    default: 10_000,
    min: 100,
    max: 600_000,
    unit: 'ms',
    description: 'How long a message waits for NATS to come back before its device gets an error.',
  }),

  queuePartitions: queue.integer({
    name: 'TB_QUEUE_RE_MAIN_PARTITIONS',
    default: 10,
    min: 1,
    max: 1000,
    unit: 'partitions',
    description:
      'Partitions of the link: messages of one originator are in one of them, in order. Fixed at the first start on a JetStream.',
  }),
  queueRetries: queue.integer({
    name: 'TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_RETRIES',
    default: 10,
    min: 0,
    max: 1000,
    unit: 'tries',
    description:
      'How often a failed message is tried again before it goes to the dead letters; 0 is without end. Like the other settings of Main it counts for the first start: afterwards its record does (REST, /api/queues).',
  }),
  queueRetryPauseSeconds: queue.integer({
    name: 'TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_RETRY_PAUSE',
    default: 1,
    min: 0,
    max: 3600,
    unit: 's',
    description:
      'Pause before a failed message is tried again, doubled for each further try; only its own originator waits.',
  }),
  queueMaxRetryPauseSeconds: queue.integer({
    name: 'TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_MAX_RETRY_PAUSE',
    default: 30,
    min: 0,
    max: 3600,
    unit: 's',
    description: 'Longest pause between two tries.',
  }),
  queueTimeoutMs: queue.integer({
    name: 'TB_QUEUE_RE_MAIN_PACK_PROCESSING_TIMEOUT_MS',
    default: 30_000,
    min: 100,
    max: 3_600_000,
    unit: 'ms',
    description: 'A message that did not end in this time counts as failed.',
  }),
  queueStrictOrder: queue.flag({
    name: 'QUEUE_STRICT_ORDER',
    default: false,
    description:
      'Whether a message starts only when the one before it of the same originator is done with, so that a retry never comes behind its successors. It costs parallelism: an originator then gets one message through per processing time, some 200 a second.',
  }),
  queueTriesBeforeParking: queue.integer({
    name: 'QUEUE_TRIES_BEFORE_PARKING',
    default: 3,
    min: 1,
    max: 1000,
    unit: 'tries',
    description:
      'After so many failed tries a message is parked with all that waits behind it, so that the link goes on without them. Fewer tries cost more writes; more of them keep the link from being emptied for longer.',
  }),
  queueTenantRoomPercent: queue.integer({
    name: 'QUEUE_TENANT_ROOM_PERCENT',
    default: 25,
    min: 1,
    max: 100,
    unit: '%',
    description:
      "What a tenant may hold of a queue's memory before its failing messages are parked at once. Less leaves more room to the others, and parks failures of a busy tenant earlier.",
  }),
  queueParkedMiB: queue.integer({
    name: 'QUEUE_PARKED_MIB',
    default: 512,
    min: 1,
    max: 1_048_576,
    unit: 'MiB',
    description:
      'Parked messages of all tenants that a process keeps; beyond it the devices of those who have most are refused. The store takes up to twice as much, and about a tenth of it in memory for small messages.',
  }),
  queueParkedTenantMiB: queue.integer({
    name: 'QUEUE_PARKED_TENANT_MIB',
    default: 64,
    min: 1,
    max: 1_048_576,
    unit: 'MiB',
    description:
      'Parked messages of one tenant that a process keeps; beyond it the devices of this tenant are refused, and of no other.',
  }),

  ruleNodeTimeoutMs: scripts.integer({
    name: 'RULE_NODE_TIMEOUT_MS',
    default: 20_000,
    min: 100,
    max: 3_600_000,
    unit: 'ms',
    description:
      'How long a rule node may take for a message or a batch, up to an eighth less. Then the message takes Failure, and what the node does later is ignored. Keep it below the processing timeout of the queues, at which a message is tried again whatever its node does; a store that takes longer makes messages be tried again.',
  }),
  jsThreads: scripts.integer({
    name: 'JS_WORKER_THREADS',
    default: 2,
    min: 1,
    max: 256,
    unit: 'threads',
    description:
      'Threads of the pool that runs JavaScript of rule nodes, each with a sandbox process (some 100 MiB once a script is there). With two, one slow script does not hold up the others.',
  }),
  jsMinThreads: scripts.integer({
    name: 'JS_WORKER_MIN_THREADS',
    default: 1,
    min: 1,
    max: 256,
    unit: 'threads',
    description: 'Threads of that pool that stay when there is nothing to do; never more than JS_WORKER_THREADS.',
  }),
  jsIdleTimeoutMs: scripts.integer({
    name: 'JS_WORKER_IDLE_TIMEOUT_MS',
    default: 60_000,
    min: 1000,
    max: 86_400_000,
    unit: 'ms',
    description: 'After this time without work a thread beyond the least ends, and its sandbox process with it.',
  }),
  jsConcurrentTasks: scripts.integer({
    name: 'JS_WORKER_CONCURRENT_TASKS',
    default: 2,
    min: 1,
    max: 64,
    unit: 'tasks a thread',
    description: 'Tasks handed out for each thread: one is worked on, the others are there when it ends.',
  }),
  jsBatchMessages: scripts.integer({
    name: 'JS_WORKER_BATCH_MESSAGES',
    default: 512,
    min: 1,
    max: 10_000,
    unit: 'messages',
    description: 'Most messages in one task. What waits is one task, up to this; an idle pool waits for no more.',
  }),
  jsMaxCpuTimeMs: scripts.integer({
    name: 'LOCAL_JS_SANDBOX_MAX_CPU_TIME',
    default: 1000,
    min: 10,
    max: 60_000,
    unit: 'ms',
    description: 'Longest one JavaScript call may run.',
  }),
  jsMemoryMb: scripts.integer({
    name: 'JS_SANDBOX_MAX_MEMORY_MB',
    default: 64,
    min: 8,
    max: 4096,
    unit: 'MiB',
    description: 'Memory of one tenant’s JavaScript isolate on one thread.',
  }),
  jsQueueBound: scripts.integer({
    name: 'JS_QUEUE_MAX_MESSAGES',
    default: 50_000,
    min: 100,
    max: 10_000_000,
    unit: 'messages',
    description: 'Messages of one tenant that may wait for the JavaScript pool; more fail and are tried again.',
  }),
  tbelTimeoutMs: scripts.integer({
    name: 'TBEL_MAX_REQUESTS_TIMEOUT',
    default: 500,
    min: 1,
    max: 60_000,
    unit: 'ms',
    description: 'Longest one expression-language script may run.',
  }),
  tbelMemoryMb: scripts.integer({
    name: 'TBEL_MAX_MEMORY_LIMIT_MB',
    default: 8,
    min: 1,
    max: 1024,
    unit: 'MiB',
    description: 'Memory that one run of an expression-language script may allocate.',
  }),

  castStrings: devices.flag({
    name: 'JSON_TYPE_CAST_ENABLED',
    default: true,
    description: 'Store texts that are plain numbers ("21.5") as numbers.',
  }),
  inactivityTimeoutSeconds: devices.integer({
    name: 'DEFAULT_INACTIVITY_TIMEOUT',
    default: 600,
    min: 1,
    max: 31_536_000,
    unit: 's',
    description:
      'Silence after which a device counts as inactive; its server attribute inactivityTimeout (ms) overrides it.',
  }),
  stateCheckSeconds: devices.integer({
    name: 'DEFAULT_STATE_CHECK_INTERVAL',
    default: 60,
    min: 1,
    max: 86_400,
    unit: 's',
    description: 'How often inactivity is looked for.',
  }),
  activityReportsPerSecond: devices.integer({
    name: 'ACTIVITY_REPORTS_PER_SECOND',
    default: 2000,
    min: 1,
    max: 1_000_000,
    description:
      'Most times of last activity that are written down a second. Each active device has one every 3 s where there is room, else in turn; when a device becomes active or inactive is never late.',
  }),
} as const

export type SettingKey = keyof typeof SETTINGS

/** The parsed, complete, frozen configuration. */
export type Config = {
  readonly [Key in SettingKey]: (typeof SETTINGS)[Key] extends Setting<infer Value> ? Value : never
}
