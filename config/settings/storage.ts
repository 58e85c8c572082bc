import { settingsOf } from '../define.ts'

const storage = settingsOf('Storage')

export const STORAGE_SETTINGS = {
  durability: storage.choice({
    name: 'DURABILITY',
    default: 'power-cut',
    choices: ['power-cut', 'process-death'],
    description:
      'What acknowledged messages survive: power-cut syncs every frame and batch, process-death leaves that to the system.',
  }),
  entitiesDatabase: storage.choice({
    name: 'DATABASE_ENTITIES_TYPE',
    default: 'sqlite',
    choices: ['sqlite', 'postgres'],
    description: 'Entities, attributes, chains and users: a file in the data folder, or DATABASE_URL.',
  }),
  timeSeriesDatabase: storage.choice({
    name: 'DATABASE_TS_TYPE',
    default: 'embedded',
    choices: ['embedded', 'sql', 'questdb'],
    description:
      'Time series: in the data folder, in DATABASE_URL, or in QUESTDB_URL with latest values in DATABASE_URL.',
  }),
  databaseUrl: storage.url({
    name: 'DATABASE_URL',
    default: 'postgres://postgres@127.0.0.1:5432/millrace',
    schemes: ['postgres', 'postgresql'],
    description: 'PostgreSQL, with login; the database must exist. TLS as in libpq: ?sslmode=verify-full and so on.',
  }),
  databaseConnections: storage.integer({
    name: 'DATABASE_CONNECTIONS',
    default: 8,
    min: 2,
    max: 1000,
    description: 'Most connections of this process.',
  }),
  timeSeriesPartitioning: storage.choice({
    name: 'SQL_POSTGRES_TS_KV_PARTITIONING',
    default: 'MONTHS',
    choices: ['DAYS', 'MONTHS', 'YEARS', 'INDEFINITE'],
    description: 'Time span of a history partition in PostgreSQL.',
  }),
  timeSeriesTtlSeconds: storage.integer({
    name: 'SQL_TTL_TS_TS_KEY_VALUE_TTL',
    default: 0,
    min: 0,
    max: 10_000_000_000,
    unit: 's',
    description: 'Age at which PostgreSQL and QuestDB drop history, by whole partitions; 0 keeps it.',
  }),
  auditLogTtlSeconds: storage.integer({
    name: 'SQL_TTL_AUDIT_LOGS_SECS',
    default: 31_536_000,
    min: 0,
    max: 10_000_000_000,
    unit: 's',
    description: 'Age at which rows of the audit log go; 0 keeps them.',
  }),
  rpcTtlSeconds: storage.integer({
    name: 'SQL_TTL_RPC_SECS',
    default: 2_592_000,
    min: 60,
    max: 10_000_000_000,
    unit: 's',
    description: 'Age at which persistent calls to devices go, whatever became of them.',
  }),
  notificationsTtlSeconds: storage.integer({
    name: 'SQL_TTL_NOTIFICATIONS_SECS',
    default: 2_592_000,
    min: 0,
    max: 10_000_000_000,
    unit: 's',
    description: 'Age at which notifications go, and the requests that made them; 0 keeps them.',
  }),
  auditLogMaxRows: storage.integer({
    name: 'AUDIT_LOG_MAX_ROWS',
    default: 1_000_000,
    min: 1000,
    max: 1_000_000_000,
    description: 'Most rows of the audit log of one tenant: beyond them its oldest go.',
  }),
  alarmsMaxPerTenant: storage.integer({
    name: 'ALARMS_MAX_PER_TENANT',
    default: 1_000_000,
    min: 1000,
    max: 1_000_000_000,
    description: 'Most alarms of one tenant: beyond them its oldest go, cleared ones first.',
  }),
  questDbPartition: storage.choice({
    name: 'QUESTDB_PARTITION_BY',
    default: 'DAY',
    choices: ['HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'],
    description: 'Its time span in QuestDB, fixed when the table is made. MONTH for much late data.',
  }),
  questDbUrl: storage.url({
    name: 'QUESTDB_URL',
    default: 'http://127.0.0.1:9000',
    schemes: ['http', 'https'],
    description: 'HTTP address, with login where needed. DURABILITY=power-cut needs its cairo.commit.mode=sync.',
  }),
  questDbToken: storage.secret({
    name: 'QUESTDB_TOKEN',
    default: undefined,
    absent: 'none',
    allowed: 'no spaces',
    accepts: (text) => /^[\x21-\x7e]+$/.test(text),
    description: 'Bearer token in place of a login.',
  }),
  questDbCaFile: storage.file({
    name: 'QUESTDB_TLS_CA_FILE',
    description: 'PEM file of an authority that the system does not know.',
  }),
  cacheAttributes: storage.flag({
    name: 'CACHE_ATTRIBUTES_ENABLED',
    default: true,
    description: 'Keep read attributes in memory.',
  }),
  cacheAttributesMb: storage.integer({
    name: 'CACHE_ATTRIBUTES_MB',
    default: 64,
    min: 1,
    max: 65_536,
    unit: 'MiB',
    description: 'Memory for them; beyond it, what was read longest ago costs a read of the store.',
  }),
  cacheCredentialsMb: storage.integer({
    name: 'CACHE_CREDENTIALS_MB',
    default: 128,
    min: 1,
    max: 65_536,
    unit: 'MiB',
    description: 'The same for device credentials, 1 KiB each.',
  }),
  cacheTokensMb: storage.integer({
    name: 'CACHE_TOKENS_MB',
    default: 16,
    min: 1,
    max: 65_536,
    unit: 'MiB',
    description: 'The same for verified tokens, 2 KiB each; a dropped one costs a signature check.',
  }),
} as const
