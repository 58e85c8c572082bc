/**
 * One connection to PostgreSQL that is opened when it is needed and opened again after it was lost. Queries are pipelined:
 * each is sent at once and answered in order, so those of one turn cost one round trip, and a transaction whose statements
 * are all given in one turn is never mixed with another.
 */
import type pg from 'pg'
import { errorText, type MillraceError } from '../../model/errors.ts'
import { endsConnection, PostgresErrors, postgresError } from './errors.ts'
import { fromPostgresText } from './text.ts'

export interface PostgresSettings {
  /** `postgresql://user:password@host:port/database`, with TLS as `?sslmode=`, `sslrootcert=`, `sslcert=` and `sslkey=` say. */
  readonly url: string
  /** What the server shows in `pg_stat_activity`. */
  readonly applicationName: string
  /** A statement that runs longer is given up; a server that says nothing at all loses the connection: then the outcome is unknown. */
  readonly answerWithinMs?: number | undefined
  readonly connectWithinMs?: number | undefined
}

export type Parameter = null | string | number | bigint | Buffer

export interface PostgresQuery {
  readonly text: string
  readonly parameters?: readonly Parameter[]
  /** Prepared once a connection under this name: for texts that are few and repeated. */
  readonly name?: string
}

export interface PostgresResult<Row> {
  readonly rows: readonly Row[]
  /** Rows touched or returned. */
  readonly count: number
  /** `INSERT`, `COMMIT`, …; a commit of a failed transaction answers `ROLLBACK`. */
  readonly command: string
}

export type Outcome<Row> = PostgresResult<Row> | { readonly error: MillraceError }

const ANSWER_WITHIN_MS = 60_000
/** What the refusal of a statement that took too long may need to arrive. */
const LATER_MS = 1_000
const CONNECT_WITHIN_MS = 5_000
/** Queries sent and not answered; more are refused as retryable. */
const MAX_UNANSWERED = 20_000

const INT8 = 20
const NUMERIC = 1700
const TEXT_TYPES = new Set([25, 1043])

function wholeNumber(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

/** 64-bit integers keep every digit, text comes back as it was given. */
function typesOf(library: typeof pg): pg.CustomTypesConfig {
  return {
    getTypeParser: (oid: number, format?: string) => {
      if (oid === INT8) return wholeNumber
      if (oid === NUMERIC) return (text: string) => (text.includes('.') ? Number(text) : wholeNumber(text))
      if (TEXT_TYPES.has(oid)) return fromPostgresText
      return library.types.getTypeParser(oid, format === 'binary' ? 'binary' : 'text') as (text: string) => unknown
    },
  }
}

/**
 * What is acknowledged is durable, whatever the server is set to for others; what is stricter than `on` stays.
 */
const SYNCED = `select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`
/**
 * Plans are not compiled: compiling takes longer than our longest queries do without, up to seconds on a busy machine
 * (`benchmarks/entity-query`: by ownerName over 100,000 devices, five times).
 */
const NOT_COMPILED = `select set_config('jit', 'off', false)`

export class PostgresConnection {
  private readonly settings: PostgresSettings
  private client: pg.Client | undefined
  private connecting: Promise<pg.Client> | undefined
  private waiting = 0
  private closing: Promise<void> | undefined

  constructor(settings: PostgresSettings) {
    this.settings = settings
  }

  /** Queries that have no answer yet. */
  get unanswered(): number {
    return this.waiting
  }

  /** Rows as objects by column. Rejects with one of {@link PostgresErrors}. */
  async query<Row>(query: PostgresQuery): Promise<PostgresResult<Row>> {
    const [outcome] = await this.queries<Row>([query])
    return resultOf(outcome)
  }

  /** Two in one go, the second after the first. Rejects with one of {@link PostgresErrors} where either failed. */
  async pair<First, Second>(
    first: PostgresQuery,
    second: PostgresQuery,
  ): Promise<readonly [PostgresResult<First>, PostgresResult<Second>]> {
    const [one, other] = await this.queries<First & Second>([first, second])
    return [resultOf(one), resultOf(other)]
  }

  /**
   * Sends all of them in one go, in order, with nothing of others between; each has its own outcome. Rejects with one of
   * {@link PostgresErrors} where none was sent.
   */
  async queries<Row>(queries: readonly PostgresQuery[]): Promise<readonly Outcome<Row>[]> {
    if (this.closing !== undefined) throw PostgresErrors.CLOSED()
    if (this.waiting >= MAX_UNANSWERED) {
      throw PostgresErrors.BUSY({ waiting: this.waiting, limit: MAX_UNANSWERED })
    }
    this.waiting += queries.length
    try {
      return await this.send<Row>(this.client ?? (await this.connect()), queries)
    } finally {
      this.waiting -= queries.length
    }
  }

  /**
   * A transaction of two round trips, where the second depends on what the first answered. Only for a connection with one
   * user: what others send meanwhile would be a part of it. Where it rejects, nothing was committed, unless the connection broke at the end.
   * `withinMs`: the answers are waited for as long; the server's own limit is another statement's.
   */
  async transaction<Row>(
    first: readonly PostgresQuery[],
    second: (answers: readonly PostgresResult<Row>[]) => readonly PostgresQuery[],
    withinMs?: number,
  ): Promise<readonly PostgresResult<Row>[]> {
    if (this.closing !== undefined) throw PostgresErrors.CLOSED()
    const client = this.client ?? (await this.connect())
    try {
      const [, ...answers] = (await this.send<Row>(client, [{ text: 'begin' }, ...first], withinMs)).map(resultOf)
      const outcomes = await this.send<Row>(client, [...second(answers), { text: 'commit' }], withinMs)
      return outcomes.slice(0, -1).map(resultOf)
    } catch (error) {
      // Where the session is lost, so is the transaction; it must not be left open for the next one.
      const [undone] = await this.send(client, [{ text: 'rollback' }])
      if (undone === undefined || 'error' in undone) this.drop(client)
      throw error
    }
  }

  private async send<Row>(
    client: pg.Client,
    queries: readonly PostgresQuery[],
    withinMs?: number,
  ): Promise<readonly Outcome<Row>[]> {
    const { stream } = client.connection
    // Else the first query leaves alone: a call of the system for it and one for the rest, and the server is woken twice.
    stream.cork()
    const sent = queries.map((query) => client.query<Row & pg.QueryResultRow>(configOf(query, withinMs)))
    stream.uncork()
    const settled = await Promise.allSettled(sent)
    return settled.map((outcome) => {
      if (outcome.status === 'rejected') {
        if (endsConnection(outcome.reason)) this.drop(client)
        return { error: postgresError(outcome.reason) }
      }
      const { rows, rowCount, command } = outcome.value
      return { rows, count: rowCount ?? 0, command }
    })
  }

  /** Waits for what was sent. Idempotent. */
  close(): Promise<void> {
    this.closing ??= this.end()
    return this.closing
  }

  private drop(client: pg.Client): void {
    if (this.client !== client) return
    this.client = undefined
    // Those who wait on it are answered by its end; how it ends is nobody's concern.
    void client.end().catch(() => undefined)
  }

  private async end(): Promise<void> {
    const client = this.client ?? (await this.connecting?.catch(() => undefined))
    this.client = undefined
    await client?.end()
  }

  private connect(): Promise<pg.Client> {
    this.connecting ??= this.open().finally(() => {
      this.connecting = undefined
    })
    return this.connecting
  }

  private async open(): Promise<pg.Client> {
    // Loaded by the first connection: the embedded default has none.
    const { default: library } = await import('pg')
    const client = this.newClient(library)
    // Those who wait hear of it by their queries; the next query opens a new connection.
    client.on('error', () => this.drop(client))
    client.on('end', () => this.drop(client))
    try {
      await client.connect()
      await client.query(`${SYNCED}; ${NOT_COMPILED}`)
    } catch (error) {
      await client.end().catch(() => undefined)
      throw postgresError(error)
    }
    this.client = client
    return client
  }

  /** Throws UNTRUSTED where a file that the address names cannot be read. */
  private newClient(library: typeof pg): pg.Client {
    const { answerWithinMs = ANSWER_WITHIN_MS } = this.settings
    const options: pg.ClientConfig = {
      connectionString: this.settings.url,
      application_name: this.settings.applicationName,
      connectionTimeoutMillis: this.settings.connectWithinMs ?? CONNECT_WITHIN_MS,
      // The server gives a statement up at the same time: what nobody waits for is not worth its work.
      statement_timeout: answerWithinMs,
      // Locks of a process that stands still in the middle of a transaction must not keep the next owner of a partition waiting.
      idle_in_transaction_session_timeout: answerWithinMs,
      query_timeout: answerWithinMs + LATER_MS,
      keepAlive: true,
      pipeline: true,
      types: typesOf(library),
    }
    try {
      return new library.Client(options)
    } catch (error) {
      // The files are read here; the address itself was looked at with the settings.
      throw PostgresErrors.UNTRUSTED({ reason: errorText(error) }, error)
    }
  }
}

/** Throws where the query failed. */
export function resultOf<Row>(outcome: Outcome<Row> | undefined): PostgresResult<Row> {
  if (outcome === undefined) throw PostgresErrors.UNAVAILABLE({ reason: 'an answer is missing' })
  if ('error' in outcome) throw outcome.error
  return outcome
}

function configOf(query: PostgresQuery, withinMs: number | undefined): pg.QueryConfig {
  const { text, parameters = [], name } = query
  return {
    ...{ text, values: [...parameters] },
    ...(name === undefined ? {} : { name }),
    ...(withinMs === undefined ? {} : { query_timeout: withinMs }),
  }
}
