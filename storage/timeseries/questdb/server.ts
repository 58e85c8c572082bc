/**
 * One QuestDB server: writes by the line protocol over HTTP, so that each is acknowledged or refused with a text; queries by `/exec`,
 * which is as fast as PostgreSQL's protocol for these answers and needs no second address (`docs/internals/questdb.md`).
 */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { errorText } from '../../../model/errors.ts'
import { tlsFault } from '../../../model/tls.ts'
import { toPostgresText } from '../../postgres/text.ts'
import { TimeSeriesErrors } from '../errors.ts'
import { QuestDbErrors } from './errors.ts'
import { AnswerTooBig, HttpClient, type HttpAnswer } from './request.ts'

export interface QuestDbServerOptions {
  /** `http://host:port`, with `user:password@` where the server asks for it; https likewise. */
  readonly url: string
  /** In the place of user and password. */
  readonly token?: string | undefined
  /** Path of a PEM file; undefined: what the system trusts. */
  readonly caFile?: string | undefined
  /** A request without an answer for so long has failed. */
  readonly timeoutMs: number
  /** Bytes of one answer. */
  readonly maxAnswerBytes: number
}

/** Cells are looked at where they are used: a schema for each would cost more than everything else about a large answer. */
export type Row = readonly unknown[]

const answerSchema = z.object({
  columns: z.array(z.unknown()),
  dataset: z.custom<readonly Row[]>(isRows),
  count: z.number(),
})
const faultSchema = z.object({ error: z.string() })
/** Of the lines themselves: wrong, or too long. */
const REFUSALS = new Set([400, 413, 422])
const NO_ENTRY = new Set([401, 403])
const MAX_REASON = 500

export class QuestDbServer {
  /** Without the password. */
  readonly name: string
  private readonly options: QuestDbServerOptions
  private readonly base: string
  private readonly headers: Readonly<Record<string, string>>
  private readonly http: HttpClient

  /** Throws URL_INVALID. */
  constructor(options: QuestDbServerOptions) {
    const url = parseUrl(options.url)
    const user = decodeURIComponent(url.username)
    const password = decodeURIComponent(url.password)
    this.options = options
    const { token, caFile } = options
    this.http = new HttpClient(url, caFile === undefined ? {} : { ca: readFileSync(caFile) })
    this.name = url.host
    this.base = `${url.protocol}//${url.host}`
    const basic = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
    this.headers =
      token !== undefined ? { authorization: `Bearer ${token}` } : user === '' ? {} : { authorization: basic }
  }

  /**
   * Stores the lines, all or none. Rejects UNREACHABLE, REFUSED, UNTRUSTED; FAILED where the server could not; POINTS_REFUSED where it does
   * not take these lines.
   */
  async write(lines: string | Uint8Array): Promise<void> {
    let status: number
    let reason: string
    try {
      const answer = await this.ask('/write', 'POST', lines)
      status = answer.status
      reason = answer.text.slice(0, MAX_REASON)
    } catch (error) {
      throw this.unreachable(error)
    }
    if (status < 300) return
    this.refuseNoEntry(status, reason)
    if (REFUSALS.has(status)) throw QuestDbErrors.POINTS_REFUSED({ reason })
    throw QuestDbErrors.FAILED({ url: this.name, reason: `${status} ${reason}` })
  }

  /** The rows of a query. Rejects UNREACHABLE, REFUSED, UNTRUSTED, FAILED, QUERY_REFUSED, ANSWER_TOO_BIG. */
  async query(sql: string): Promise<readonly Row[]> {
    const parsed = answerSchema.safeParse(await this.send(sql))
    if (!parsed.success) throw QuestDbErrors.QUERY_REFUSED({ url: this.name, reason: 'the answer has no rows' })
    const { columns, dataset, count } = parsed.data
    // A value longer than its send buffer ends the answer in silence, with a row that is cut off.
    if (dataset.length !== count || dataset.some((row) => row.length !== columns.length)) {
      throw TimeSeriesErrors.ANSWER_TOO_BIG({ limit: 2 ** 20, unit: 'bytes in one value' })
    }
    return dataset
  }

  /** A statement without rows. Rejects as `query`. */
  async execute(sql: string): Promise<void> {
    await this.send(sql)
  }

  close(): void {
    this.http.close()
  }

  private async send(sql: string): Promise<unknown> {
    let status: number
    let text: string
    try {
      const answer = await this.ask(`/exec?query=${encodeURIComponent(sql)}`, 'GET')
      status = answer.status
      text = answer.text
    } catch (error) {
      throw error instanceof AnswerTooBig
        ? TimeSeriesErrors.ANSWER_TOO_BIG({ limit: this.options.maxAnswerBytes, unit: 'bytes' })
        : this.unreachable(error)
    }
    this.refuseNoEntry(status, text.slice(0, MAX_REASON))
    const body = parseJson(text)
    if (status === 200) return body
    const fault = faultSchema.safeParse(body)
    const reason = fault.success ? fault.data.error : `${status} ${text.slice(0, 200)}`
    if (status === 400 && !TRANSIENT.test(reason)) throw QuestDbErrors.QUERY_REFUSED({ url: this.name, reason })
    throw QuestDbErrors.FAILED({ url: this.name, reason })
  }

  private refuseNoEntry(status: number, text: string): void {
    if (NO_ENTRY.has(status)) throw QuestDbErrors.REFUSED({ url: this.name, reason: `${status} ${text.trim()}` })
  }

  private ask(path: string, method: 'GET' | 'POST', body?: string | Uint8Array): Promise<HttpAnswer> {
    const { timeoutMs, maxAnswerBytes: maxBytes } = this.options
    const request = { method, headers: this.headers, timeoutMs, maxBytes }
    return this.http.request(`${this.base}${path}`, body === undefined ? request : { ...request, body })
  }

  private unreachable(error: unknown): Error {
    const untrusted = tlsFault(error)
    if (untrusted !== undefined) return QuestDbErrors.UNTRUSTED({ url: this.name, reason: untrusted }, error)
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    return QuestDbErrors.UNREACHABLE({ url: this.name, reason: errorText(cause) }, error)
  }
}

/** What it answers with 400 though the query is right: it was busy with, or waiting for, something else. */
const TRANSIENT = /timeout|busy|could not lock|table is locked|max.*connections|cached query plan|circuit breaker/i

function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null) throw QuestDbErrors.URL_INVALID({ reason: 'it cannot be read as a URL' })
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw QuestDbErrors.URL_INVALID({ reason: `it begins with ${url.protocol}` })
  }
  return url
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isRows(value: unknown): boolean {
  return Array.isArray(value) && value.every((row) => Array.isArray(row))
}

/** A text as a literal of SQL, in the form in which it is stored. */
export function literal(text: string): string {
  return `'${toPostgresText(text).replaceAll("'", "''")}'`
}
