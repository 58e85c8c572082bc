import { settingsOf } from '../define.ts'

const storage = settingsOf('Storage')

export const STORAGE_SETTINGS = {
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
} as const
