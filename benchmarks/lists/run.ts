/**
 * How long do lists of what has gathered take? The audit log and the events of a node with a million rows, a hundred thousand alarms: first and
 * far pages, ranges of time, filters, searches; as the statements of the store alone, and over REST or WebSocket of the running program.
 * Beside them how many rows a second are put in.
 *
 *   node benchmarks/lists/run.ts [--rows 1000000] [--alarms 100000] [--devices 10000] [--runs 20] [--databases sqlite,postgres] [--only audit] [--keep FOLDER]
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import WebSocket from 'ws'
import { BACKUP_PATHS } from '../../compose/backup/backups.ts'
import { systemClock } from '../../model/system-clock.ts'
import { DECLARED_TABLES } from '../../services/entities/declared.ts'
import { openEntityStore, openPostgresEntityStore, type EntityStore } from '../../storage/entities/entity-store.ts'
import { PostgresConnection } from '../../storage/postgres/connection.ts'
import { RestClient, login } from '../../test/support/clients.ts'
import { startPostgres } from '../../test/support/servers/index.ts'
import { startMillrace, type RunningMillrace } from '../../test/support/start-millrace.ts'
import { writeResult } from '../lib/report.ts'
import { casesOf, type Case } from './cases.ts'
import { fill, type Filled } from './fill.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    alarms: { type: 'string', default: '100000' },
    devices: { type: 'string', default: '10000' },
    runs: { type: 'string', default: '20' },
    databases: { type: 'string', default: 'sqlite,postgres' },
    only: { type: 'string', default: '' },
    /** `statements` or `calls` alone; both else. */
    what: { type: 'string', default: '' },
    keep: { type: 'string' },
  },
})
const ROWS = Number(values.rows)
const RUNS = Number(values.runs)
const MIN_RUNS = 3
/** A slow case is not run as often. */
const MAX_MS_PER_CASE = 3_000

interface Measured {
  readonly p50: number
  readonly p99: number
  readonly runs: number
  readonly matching?: number
}

type Results = Record<string, { statements?: Measured; call?: Measured }>

interface Place {
  readonly dataDir: string
  readonly environment: Readonly<Record<string, string>>
  open(): Promise<EntityStore>
  afterFill(): Promise<void>
}

async function measured(ask: () => Promise<number | undefined>): Promise<Measured> {
  const matching = await ask()
  const took: number[] = []
  const started = performance.now()
  while (took.length < RUNS && (took.length < MIN_RUNS || performance.now() - started < MAX_MS_PER_CASE)) {
    const since = performance.now()
    await ask()
    took.push(performance.now() - since)
  }
  const sorted = took.toSorted((one, other) => one - other)
  const at = (share: number): number => Number((sorted[Math.ceil(sorted.length * share) - 1] ?? 0).toFixed(2))
  return { p50: at(0.5), p99: at(0.99), runs: took.length, ...(matching === undefined ? {} : { matching }) }
}

function told(name: string, what: string, { p50, p99, matching }: Measured): void {
  console.log(
    `${p50.toFixed(1).padStart(8)} ${p99.toFixed(1).padStart(8)} ms  ${what.padEnd(10)} ${name} (${matching})`,
  )
}

async function filledPlace(place: Place): Promise<Filled> {
  const known = join(place.dataDir, 'filled.json')
  if (existsSync(known)) return JSON.parse(readFileSync(known, 'utf8')) as Filled
  await (await started(place)).stop()
  const entities = await place.open()
  try {
    const filled = await fill(
      entities,
      { rows: ROWS, alarms: Number(values.alarms), devices: Number(values.devices) },
      Date.now(),
    )
    console.log('rows a second', filled.rowsPerSecond)
    writeFileSync(known, JSON.stringify(filled))
    return filled
  } finally {
    await entities.close()
    await place.afterFill()
  }
}

const started = ({ dataDir, environment }: Place): Promise<RunningMillrace> => startMillrace({ dataDir, environment })

async function measure(place: Place) {
  const filled = await filledPlace(place)
  const results: Results = {}
  const cases = casesOf(filled, ROWS).filter(({ name }) => name.includes(values.only))
  if (values.what !== 'calls') {
    const entities = await place.open()
    try {
      for (const { name, statements } of cases) {
        if (statements === undefined) continue
        const found = await measured(() => statements(entities))
        results[name] = { ...results[name], statements: found }
        told(name, 'statements', found)
      }
    } finally {
      await entities.close()
    }
  }
  if (values.what !== 'statements') {
    const millrace = await started(place)
    try {
      await measureCalls(millrace, cases, results)
    } finally {
      await millrace.stop()
    }
  }
  return { rowsPerSecond: filled.rowsPerSecond, milliseconds: results }
}

async function measureCalls(millrace: RunningMillrace, cases: readonly Case[], results: Results): Promise<void> {
  const token = await login(millrace)
  const rest = new RestClient(millrace, token)
  const socket = await Socket.open(millrace.url, token)
  for (const { name, path, body, command } of cases) {
    const ask =
      command !== undefined
        ? () => socket.ask(command)
        : path === undefined
          ? undefined
          : async () => {
              const answer = await rest.expect<{ totalElements?: number } | number>(
                body === undefined ? 'GET' : 'POST',
                path,
                body,
              )
              return typeof answer === 'number' ? answer : answer.totalElements
            }
    if (ask === undefined) continue
    const found = await measured(ask)
    results[name] = { ...results[name], call: found }
    told(name, 'call', found)
  }
  socket.close()
}

interface Frame {
  readonly cmdId?: number
  readonly errorMsg?: string | null
  readonly count?: number
  readonly data?: { readonly totalElements?: number } | null
}

/** One command at a time, each taken back before the next. */
class Socket {
  private readonly socket: WebSocket
  private answered: PromiseWithResolvers<Frame> | undefined
  private cmdId = 0

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (text: Buffer) => {
      const frame = JSON.parse(text.toString()) as Frame
      if (frame.cmdId === this.cmdId) this.answered?.resolve(frame)
    })
  }

  static async open(url: string, token: string): Promise<Socket> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/ws`)
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    socket.send(JSON.stringify({ authCmd: { cmdId: 0, token } }))
    return new Socket(socket)
  }

  async ask(command: object): Promise<number | undefined> {
    const cmdId = ++this.cmdId
    this.answered = Promise.withResolvers()
    this.socket.send(JSON.stringify({ cmds: [{ ...command, cmdId }] }))
    const { errorMsg, data, count } = await this.answered.promise
    if (errorMsg !== undefined && errorMsg !== null && errorMsg !== '') throw new Error(errorMsg)
    this.socket.send(JSON.stringify({ cmds: [{ type: unsubscribing(command), cmdId }] }))
    return count ?? data?.totalElements
  }

  close(): void {
    this.socket.close()
  }
}

function unsubscribing(command: object): string {
  return `${'type' in command ? String(command.type) : ''}_UNSUBSCRIBE`
}

async function inFolder<Answer>(name: string, work: (folder: string) => Promise<Answer>): Promise<Answer> {
  const folder = values.keep === undefined ? mkdtempSync(join(tmpdir(), `millrace-${name}-`)) : join(values.keep, name)
  try {
    return await work(folder)
  } finally {
    if (values.keep === undefined) rmSync(folder, { recursive: true })
  }
}

const DATABASES: Readonly<Record<string, () => Promise<Awaited<ReturnType<typeof measure>>>>> = {
  sqlite: () =>
    inFolder('sqlite', (dataDir) => {
      const file = join(dataDir, BACKUP_PATHS.entities)
      const options = { file, durability: 'power-cut', clock: systemClock, tables: DECLARED_TABLES } as const
      return measure({
        ...{ dataDir, environment: {} },
        open: () => openEntityStore(options),
        afterFill: async () => undefined,
      })
    }),
  postgres: () =>
    inFolder('postgres', async (folder) => {
      const server = await startPostgres(values.keep === undefined ? {} : { dataDir: join(folder, 'server') })
      try {
        const options = { url: server.url, applicationName: 'benchmark', clock: systemClock, tables: DECLARED_TABLES }
        return await measure({
          dataDir: join(folder, 'data'),
          environment: { DATABASE_ENTITIES_TYPE: 'postgres', DATABASE_URL: server.url },
          open: () => openPostgresEntityStore(options),
          afterFill: () => vacuum(server.url),
        })
      } finally {
        await server.stop()
      }
    }),
}

/** As PostgreSQL does by itself within a minute of such a fill. */
async function vacuum(url: string): Promise<void> {
  const connection = new PostgresConnection({ url, applicationName: 'benchmark', answerWithinMs: 600_000 })
  try {
    await connection.query({ text: 'vacuum analyze' })
  } finally {
    await connection.close()
  }
}

const databases: Record<string, unknown> = {}
for (const name of values.databases.split(',')) {
  console.log(name)
  const run = DATABASES[name]
  if (run === undefined) throw new Error(`no database ${name}`)
  databases[name] = await run()
}
if (values.only === '' && values.what === '') {
  const command = `node benchmarks/lists/run.ts --rows ${ROWS} --alarms ${values.alarms} --runs ${RUNS} --databases ${values.databases}`
  writeResult('lists', command, { rows: ROWS, alarms: Number(values.alarms), databases })
}
