/** Every fault of the QuestDB time-series store. */
import { defineErrors } from '../../../model/errors.ts'

const AWAY = { kind: 'retryable', isOutage: true, status: 503 } as const
const MISCONFIGURED = { kind: 'terminal', status: 500 } as const

export const QuestDbErrors = defineErrors('questdb', {
  UNREACHABLE: { ...AWAY, text: 'QuestDB at {url} does not answer: {reason}' },
  FAILED: { ...AWAY, text: 'QuestDB at {url} refused the request: {reason}' },
  REFUSED: {
    ...AWAY,
    needsOperator: true,
    text: 'QuestDB at {url} refuses the login: {reason}. Correct the user and password in QUESTDB_URL, or QUESTDB_TOKEN',
  },
  UNTRUSTED: {
    ...AWAY,
    needsOperator: true,
    text: 'There is no trusted TLS connection to QuestDB at {url}: {reason}. Correct QUESTDB_URL or QUESTDB_TLS_CA_FILE',
  },
  SUSPENDED: { ...AWAY, text: 'The QuestDB table {table} takes no writes: {reason}' },
  APPLY_LAG: { ...AWAY, text: 'QuestDB has not applied the writes to {table} within {timeout} ms' },
  POINTS_REFUSED: { kind: 'invalid', status: 400, text: 'QuestDB refuses these points: {reason}' },
  QUERY_REFUSED: { kind: 'terminal', status: 500, text: 'QuestDB at {url} does not understand a query: {reason}' },
  URL_INVALID: { ...MISCONFIGURED, text: 'Not the address of a QuestDB server, http://host:port: {reason}' },
  SCHEMA_UNKNOWN: { ...MISCONFIGURED, text: 'The QuestDB table {table} is not as this version makes it: {reason}' },
  SHARDS_UNFIT: {
    ...MISCONFIGURED,
    text: 'The shards of the QuestDB table {table} are not as this version makes them: {reason}. Drop the table if its data may go',
  },
  NOT_DURABLE: {
    ...MISCONFIGURED,
    text: 'A power cut would lose what QuestDB at {url} acknowledges: it runs with cairo.commit.mode={mode}. Set cairo.commit.mode=sync there, or DURABILITY=process-death here',
  },
  TTL_UNSAFE: {
    ...MISCONFIGURED,
    text: 'QuestDB at {url} runs with cairo.ttl.use.wall.clock=false: one point from the future would expire all others. Set it to true there, or keep time series without a time to live',
  },
})
