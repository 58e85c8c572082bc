/**
 * How long does `npm start -- import` take to create devices, with credentials, audit rows and messages that the root chain takes? Beside it the
 * processor time of Millrace and of the database's server, as a busy machine takes longer for the same work, and the most memory that Millrace
 * and the command had.
 *
 *   node benchmarks/import/run.ts [--devices 100000] [--databases sqlite,postgres] [--kill]
 *
 * `--kill`: the command is killed in the middle, and run again.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { startCommand, type EndedCommand } from '../../test/support/command-process.ts'
import { startPostgres } from '../../test/support/servers/index.ts'
import { processorSeconds, writeResult } from '../lib/report.ts'
import { startShape } from '../lib/shape.ts'

const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: '100000' },
    databases: { type: 'string', default: 'sqlite,postgres' },
    kill: { type: 'boolean', default: false },
  },
})
const DEVICES = Number(values.devices)
const LINES_AT_ONCE = 10_000

interface Measured {
  readonly seconds: number
  readonly linesPerSecond: number
  readonly processorSeconds: number
  /** Of the database's server, where there is one. */
  readonly databaseSeconds?: number
  readonly mostMiB: { readonly millrace: number; readonly command: number }
}

async function measure(environment: Readonly<Record<string, string>>, databasePid?: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-import-'))
  const file = join(folder, 'devices.csv')
  await writeDevices(file)
  const shape = await startShape('embedded', environment)
  try {
    const used = (): number => shape.pids.reduce((sum, pid) => sum + processorSeconds(pid), 0)
    const [before, begun] = [used(), performance.now()]
    const databaseBefore = databasePid === undefined ? 0 : secondsOfServer(databasePid)
    const memory = { command: 0 }
    if (values.kill) {
      const { code, output } = await runCommand(['import', file, '--url', shape.millrace.url], memory, 50)
      if (code !== null) throw new Error(`it ended before it was killed:\n${output}`)
    }
    const { code, output } = await runCommand(['import', file, '--url', shape.millrace.url], memory)
    const seconds = (performance.now() - begun) / 1000
    if (code !== 0 || !output.includes(`${DEVICES} created`)) throw new Error(output)
    return {
      seconds,
      linesPerSecond: DEVICES / seconds,
      processorSeconds: used() - before,
      ...(databasePid === undefined ? {} : { databaseSeconds: secondsOfServer(databasePid) - databaseBefore }),
      mostMiB: { millrace: mostMiB(shape.millrace.pid), command: memory.command },
    }
  } finally {
    await shape.close()
    rmSync(folder, { recursive: true })
  }
}

async function writeDevices(file: string): Promise<void> {
  const handle = await open(file, 'w')
  try {
    await handle.write('name,type,label\n')
    for (let from = 0; from < DEVICES; from += LINES_AT_ONCE) {
      const count = Math.min(LINES_AT_ONCE, DEVICES - from)
      const line = (_: unknown, place: number) => `device ${from + place},thermometer,Label ${from + place}\n`
      await handle.write(Array.from({ length: count }, line).join(''))
    }
  } finally {
    await handle.close()
  }
}

/** With `untilPercent` it is killed when it says that it is so far. */
async function runCommand(
  args: readonly string[],
  memory: { command: number },
  untilPercent?: number,
): Promise<EndedCommand> {
  const command = startCommand(args)
  let isRunning = true
  const ended = command.ended.finally(() => (isRunning = false))
  let shown = 0
  while (isRunning) {
    memory.command = Math.max(memory.command, mostMiB(command.pid))
    process.stderr.write(command.output().slice(shown))
    shown = command.output().length
    if (untilPercent !== undefined && command.output().includes(`importing ${untilPercent}%`)) command.kill()
    await Promise.race([ended, delay(200)])
  }
  return ended
}

/** The most memory that a process had; 0 when it has ended. */
function mostMiB(pid: number): number {
  try {
    const [, kilobytes = '0'] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Math.round(Number(kilobytes) / 1024)
  } catch {
    return 0
  }
}

/** Of PostgreSQL: a process for each connection. */
function secondsOfServer(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return [pid, ...children.map(Number)].reduce((sum, each) => sum + processorSeconds(each), 0)
}

async function onPostgres(): Promise<Measured> {
  const server = await startPostgres()
  try {
    return await measure({ DATABASE_ENTITIES_TYPE: 'postgres', DATABASE_URL: server.url }, server.pid)
  } finally {
    await server.stop()
  }
}

const databases: Record<string, Measured> = {}
for (const database of values.databases.split(',')) {
  const measured = await (database === 'postgres' ? onPostgres() : measure({}))
  databases[database] = measured
  console.log(database, measured)
}
const kill = values.kill ? ' --kill' : ''
writeResult('import', `node benchmarks/import/run.ts --devices ${DEVICES} --databases ${values.databases}${kill}`, {
  devices: DEVICES,
  databases,
})
