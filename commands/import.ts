/**
 * `npm start -- import FILE`: devices or assets from a file of comma-separated values, however long, into a running Millrace. The server keeps how
 * far it has come with the lines themselves: after a kill of either side the same command goes on there.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readFile, stat } from 'node:fs/promises'
import { z } from 'zod'
import { columnOfHead, delimiterOf, firstLines, headerEnd, MAX_HEADER } from '../api/console/browser/csv-header.js'
import { defineErrors, errorText } from '../model/errors.ts'
import { csvPieces, unendedQuote, type CsvPiece } from './csv-pieces.ts'
import { ErrorLines } from './error-lines.ts'
import { Progress } from './progress.ts'
import { runRestCommand, type CommandOutput, type RestCall } from './rest-command.ts'
import { DEFAULT_SERVER, type RestSession } from './rest-session.ts'

const USAGE = `npm start -- import FILE [--type device|asset] [--mapping FILE] [--update] [--errors FILE] [--again]

  FILE       comma-separated values. Without --mapping its first line names the columns: NAME, TYPE, LABEL, DESCRIPTION, ACCESS_TOKEN and the
             other column types of /api/device/bulk_import, in any letter case; shared:KEY, server:KEY and series:KEY for values
  --mapping  a file with the member "mapping" of /api/device/bulk_import: {"columns":[{"type":"NAME"},…],"delimiter":",","header":true,"update":true}
  --update   also write attributes and series of existing entities
  --errors   where refused lines go, with the reason (default FILE.errors)
  --again    import this file once more
  --url URL --user EMAIL --password TEXT   where and as which tenant administrator (default ${DEFAULT_SERVER.url}, ${DEFAULT_SERVER.user};
                                           environment: MILLRACE_URL, MILLRACE_USER, MILLRACE_PASSWORD)

Lines are matched by name: existing entities are changed, the rest is made. After a kill the same command continues.
Exit code: 0 all lines are in, 3 all but refused ones, 1 not finished.
`
/** The exit code where the file is through and lines were refused: 1 is an import that failed. */
const REFUSED_LINES = 3
const BOUNDS = { lines: 2_000, bytes: 1 << 20 }

const ImportErrors = defineErrors('import', {
  FILE: { kind: 'invalid', status: 400, text: 'cannot read {file}: {reason}' },
  MAPPING: { kind: 'invalid', status: 400, text: '{file} is no mapping: {reason}' },
  QUOTE: {
    kind: 'invalid',
    status: 400,
    text: 'line {line} of {file} has a quote that nothing ends: all behind it would be one cell. Nothing was imported',
  },
  NO_NAME: {
    kind: 'invalid',
    status: 400,
    text: 'the first line of {file} names no column NAME: say what the columns are with --mapping',
  },
})

const flagsSchema = z.object({
  type: z.enum(['device', 'asset']).default('device'),
  mapping: z.string().optional(),
  update: z.boolean().default(false),
  errors: z.string().optional(),
  again: z.boolean().default(false),
})
type Flags = z.infer<typeof flagsSchema>

const columnSchema = z.object({ type: z.string(), key: z.string().nullish() })
const mappingSchema = z.object({
  columns: z.array(columnSchema).min(1),
  delimiter: z
    .string()
    .regex(/^[\t -~]$/, 'one character of ASCII is expected')
    .default(','),
  header: z.boolean().default(false),
  update: z.boolean().default(false),
})
type Mapping = z.infer<typeof mappingSchema>

const positionSchema = z.object({
  position: z.number(),
  created: z.number(),
  updated: z.number(),
  errors: z.number(),
  errorsList: z.array(z.string()),
})
type Position = z.infer<typeof positionSchema>

/** Resolves with the exit code. */
export function importFile(argv: readonly string[], output?: CommandOutput): Promise<number> {
  return runRestCommand({ usage: USAGE, flags: flagsSchema, argument: 'one FILE', run }, argv, output)
}

async function run({ argument: file, flags, open: openSession, output }: RestCall<Flags>): Promise<number> {
  const progress = new Progress()
  try {
    const mapping = await mappingOf(file, flags)
    const total = (await stat(file)).size
    const name = await nameOf(file, { type: flags.type, ...mapping }, (done) => progress.show('reading', done, total))
    const session = await openSession()
    const query = `/api/bulkImport?name=${name}`
    if (flags.again) await session.request('DELETE', query)
    const before = positionSchema.parse(await session.request('GET', query))
    const errors = await ErrorLines.open(flags.errors ?? `${file}.errors`, before.position > 0)
    await errors.add(before.errorsList)
    const shown = (done: number) => progress.show('importing', done, total)
    const send = (piece: CsvPiece) => sendPiece(session, { name, type: flags.type, mapping }, piece)
    const after = await sendAll({ file, mapping, before, errors, shown, send })
    progress.end()
    output.out(summary(before, after, total))
    if (after.errors === 0) return 0
    output.error(
      `${after.errors} ${after.errors === 1 ? 'line was' : 'lines were'} refused: ${errors.path} has the reasons`,
    )
    return REFUSED_LINES
  } finally {
    progress.end()
  }
}

interface Sending {
  readonly file: string
  readonly mapping: Mapping
  readonly before: Position
  readonly errors: ErrorLines
  readonly shown: (done: number) => void
  readonly send: (piece: CsvPiece) => Promise<Position>
}

async function sendAll({ file, mapping, before, errors, shown, send }: Sending): Promise<Position> {
  let position = before
  shown(position.position)
  for await (const piece of csvPieces(file, mapping.delimiter, BOUNDS)) {
    if (piece.to <= before.position) continue
    position = await send(mapping.header && piece.from === 0 ? withoutHeader(piece, mapping.delimiter) : piece)
    await errors.add(position.errorsList)
    shown(position.position)
  }
  return position
}

async function sendPiece(
  session: RestSession,
  { name, type, mapping }: { readonly name: string; readonly type: Flags['type']; readonly mapping: Mapping },
  { from, to, firstLine, text }: CsvPiece,
): Promise<Position> {
  const { columns, delimiter, update } = mapping
  const piece = { name, entityType: type.toUpperCase(), from, to, firstLine, file: text }
  const answer = await session.request('POST', '/api/bulkImport', { ...piece, mapping: { columns, delimiter, update } })
  return positionSchema.parse(answer)
}

/** Its line ends stay: the numbers of the others are those of the file. */
function withoutHeader(piece: CsvPiece, delimiter: string): CsvPiece {
  const end = headerEnd(piece.text, delimiter)
  return { ...piece, text: piece.text.slice(0, end).replace(/[^\n]/g, '') + piece.text.slice(end) }
}

function summary(before: Position, after: Position, total: number): string {
  if (before.position >= total && total > 0)
    return `imported before: ${after.created} created, ${after.updated} updated, ${after.errors} refused (--again: once more)`
  return `${after.created} created, ${after.updated} updated, ${after.errors} refused`
}

async function mappingOf(file: string, flags: Flags): Promise<Mapping> {
  if (flags.mapping === undefined) return { ...(await mappingOfHeader(file)), update: flags.update }
  const said = await mappingIn(flags.mapping)
  await requireEndedQuotes(file, said.delimiter)
  return { ...said, update: said.update || flags.update }
}

async function mappingIn(file: string): Promise<Mapping> {
  try {
    return mappingSchema.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : errorText(error)
    throw ImportErrors.MAPPING({ file, reason }, error)
  }
}

/** Of the whole file, before a line of it is sent. */
async function requireEndedQuotes(file: string, delimiter: string): Promise<void> {
  const line = await unendedQuote(file, delimiter)
  if (line !== undefined) throw ImportErrors.QUOTE({ file, line })
}

/** What its first line says. */
async function mappingOfHeader(file: string): Promise<Mapping> {
  const text = await beginningOf(file)
  const delimiter = delimiterOf(text)
  await requireEndedQuotes(file, delimiter)
  const [heads = []] = firstLines(text, delimiter, 1)
  const columns = heads.map(columnOfHead)
  if (!columns.some(({ type }) => type === 'NAME')) throw ImportErrors.NO_NAME({ file })
  return { columns, delimiter, header: true, update: false }
}

async function beginningOf(file: string): Promise<string> {
  const handle = await open(file).catch((error: unknown) => {
    throw ImportErrors.FILE({ file, reason: errorText(error) }, error)
  })
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(MAX_HEADER), position: 0 })
    return buffer.subarray(0, bytesRead).toString('utf8')
  } finally {
    await handle.close()
  }
}

/** The same content with the same mapping has the same name. */
async function nameOf(file: string, mapping: object, shown: (done: number) => void): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(mapping))
  let done = 0
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    hash.update(chunk)
    shown((done += chunk.length))
  }
  return hash.digest('hex')
}
