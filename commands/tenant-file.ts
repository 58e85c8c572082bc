/**
 * The file of a tenant that was taken along: gzip over lines of JSON. The first says what it is, each other one is a row of a table, and after each
 * block of them stands its checksum; the last says how many there were. `docs/guides/moving-data.md` has it in words.
 */
import { createHash, type Hash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { once } from 'node:events'
import { open, rename } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import { createGunzip, createGzip, type Gzip } from 'node:zlib'
import { z } from 'zod'
import { awaitedLater } from '../model/awaited-later.ts'
import { defineErrors, errorText } from '../model/errors.ts'
import { syncFolder } from './synced-files.ts'

export const TENANT_FORMAT = 1
const KIND = 'millrace tenant'
const BLOCK = 1_000
/** What is held of a file at once, and sent in one call, but for a single row that is longer. */
const BLOCK_CHARACTERS = 4 << 20

export const TenantFileErrors = defineErrors('tenant-file', {
  UNREADABLE: { kind: 'invalid', status: 400, text: '{file} is no whole file of a tenant: {reason}' },
})

const headerSchema = z.object({
  kind: z.literal(KIND),
  format: z.literal(TENANT_FORMAT),
  tenant: z.looseObject({ id: z.object({ id: z.string() }), title: z.string() }),
  time: z.number(),
})
export type TenantHeader = z.infer<typeof headerSchema>

const lineSchema = z.union([
  z.object({ table: z.string(), row: z.string() }),
  z.object({ sha256: z.string() }),
  z.object({ end: z.number() }),
])

export interface TakenRow {
  readonly table: string
  /** JSON text. */
  readonly row: string
}

/** It is there with its name only when it is whole. */
export class TenantFileWriter {
  rows = 0
  private readonly path: string
  private readonly gzip: Gzip = createGzip()
  private readonly ended: Promise<void>
  private hash: Hash = createHash('sha256')
  private inBlock = 0
  private charactersInBlock = 0

  private constructor(path: string) {
    this.path = path
    const out = createWriteStream(`${path}.new`, { mode: 0o600 })
    this.gzip.pipe(out)
    // The next line that is written reports it: a disk may be full while the server is asked for more.
    this.ended = awaitedLater(finished(out))
    this.gzip.on('error', (error) => out.destroy(error))
    out.on('error', (error) => this.gzip.destroy(error))
  }

  static async begin(path: string, { tenant, time }: Pick<TenantHeader, 'tenant' | 'time'>): Promise<TenantFileWriter> {
    const writer = new TenantFileWriter(path)
    await writer.line({ kind: KIND, format: TENANT_FORMAT, tenant, time })
    return writer
  }

  async add(row: TakenRow): Promise<void> {
    await this.line(row)
    this.rows++
    this.charactersInBlock += row.row.length
    if (++this.inBlock === BLOCK || this.charactersInBlock >= BLOCK_CHARACTERS) await this.endBlock()
  }

  async finish(): Promise<void> {
    await this.endBlock()
    await this.line({ end: this.rows })
    await this.endBlock()
    this.gzip.end()
    await this.ended
    const handle = await open(`${this.path}.new`, 'r')
    await handle.sync()
    await handle.close()
    await rename(`${this.path}.new`, this.path)
    await syncFolder(dirname(resolve(this.path)))
  }

  private async endBlock(): Promise<void> {
    const sha256 = this.hash.digest('hex')
    this.hash = createHash('sha256')
    this.inBlock = 0
    this.charactersInBlock = 0
    await this.line({ sha256 })
    this.hash = createHash('sha256')
  }

  private async line(value: object): Promise<void> {
    const text = `${JSON.stringify(value)}\n`
    this.hash.update(text)
    if (this.gzip.errored !== null) return this.ended
    if (!this.gzip.write(text)) await once(this.gzip, 'drain')
  }
}

/** Throws UNREADABLE. */
export async function readTenantHeader(path: string): Promise<TenantHeader> {
  for await (const line of linesOf(path)) return parsed(path, line, headerSchema)
  throw TenantFileErrors.UNREADABLE({ file: path, reason: 'it is empty' })
}

/** Rows of one table together, at most so many; each block only when its checksum was found right. Throws UNREADABLE. */
export async function* readTenantRows(path: string): AsyncGenerator<{ table: string; rows: string[] }, undefined> {
  let hash = createHash('sha256')
  let block: TakenRow[] = []
  let [count, end] = [0, -1]
  let isHeader = true
  for await (const text of linesOf(path)) {
    const line = isHeader ? undefined : parsed(path, text, lineSchema)
    isHeader = false
    if (line === undefined || !('sha256' in line)) hash.update(`${text}\n`)
    if (line === undefined) continue
    if ('row' in line) block.push(line)
    else if ('end' in line) end = line.end
    else {
      if (line.sha256 !== hash.digest('hex'))
        throw TenantFileErrors.UNREADABLE({ file: path, reason: `a checksum behind row ${count} is wrong` })
      hash = createHash('sha256')
      count += block.length
      yield* byTable(block)
      block = []
    }
  }
  if (end !== count) throw TenantFileErrors.UNREADABLE({ file: path, reason: 'its end is missing' })
  return undefined
}

function* byTable(rows: readonly TakenRow[]): Generator<{ table: string; rows: string[] }> {
  let piece: { table: string; rows: string[] } | undefined
  let characters = 0
  for (const { table, row } of rows) {
    const isFull = piece !== undefined && (piece.rows.length >= BLOCK / 4 || characters + row.length > BLOCK_CHARACTERS)
    if (piece !== undefined && (piece.table !== table || isFull)) {
      yield piece
      piece = undefined
      characters = 0
    }
    piece ??= { table, rows: [] }
    piece.rows.push(row)
    characters += row.length
  }
  if (piece !== undefined) yield piece
}

async function* linesOf(path: string): AsyncGenerator<string, undefined> {
  const gunzip = createGunzip()
  const file = createReadStream(path)
  file.on('error', (error) => gunzip.destroy(error))
  file.pipe(gunzip)
  try {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
    if (rest !== '') yield rest
  } catch (error) {
    throw TenantFileErrors.UNREADABLE({ file: path, reason: errorText(error) }, error)
  } finally {
    file.destroy()
  }
  return undefined
}

function parsed<Value>(path: string, text: string, schema: z.ZodType<Value>): Value {
  try {
    return schema.parse(JSON.parse(text))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : errorText(error)
    throw TenantFileErrors.UNREADABLE({ file: path, reason }, error)
  }
}
