/**
 * How long does `npm start -- import` take to create devices, with credentials, audit rows and messages that the root chain takes? Beside it the
 * processor time of Millrace (not of the database's server), as a busy machine takes longer for the same work.
 *
 *   node benchmarks/import/run.ts [--devices 100000] [--databases sqlite,postgres]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { importFile } from '../../commands/import.ts'
import { startPostgres } from '../../test/support/servers/index.ts'
import { processorSeconds, writeResult } from '../lib/report.ts'
import { startShape } from '../lib/shape.ts'

const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: '100000' },
    databases: { type: 'string', default: 'sqlite,postgres' },
  },
})
const DEVICES = Number(values.devices)

interface Measured {
  readonly seconds: number
  readonly processorSeconds: number
}

async function measure(environment: Readonly<Record<string, string>>): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-import-'))
  const file = join(folder, 'devices.csv')
  const lines = Array.from({ length: DEVICES }, (_, number) => `device ${number},thermometer,Label ${number}`)
  writeFileSync(file, `name,type,label\n${lines.join('\n')}\n`)
  const shape = await startShape('embedded', environment)
  try {
    const used = (): number => shape.pids.reduce((sum, pid) => sum + processorSeconds(pid), 0)
    const [before, begun] = [used(), performance.now()]
    const said: string[] = []
    const output = { out: (line: string) => said.push(line), error: (line: string) => said.push(line) }
    const code = await importFile([file, '--url', shape.millrace.url], output)
    const seconds = (performance.now() - begun) / 1000
    if (code !== 0 || !said.join().includes(`${DEVICES} created`)) throw new Error(said.join('\n'))
    return { seconds, processorSeconds: used() - before }
  } finally {
    await shape.close()
    rmSync(folder, { recursive: true })
  }
}

async function onPostgres(): Promise<Measured> {
  const server = await startPostgres()
  try {
    return await measure({ DATABASE_ENTITIES_TYPE: 'postgres', DATABASE_URL: server.url })
  } finally {
    await server.stop()
  }
}

const databases: Record<string, Measured> = {}
for (const database of values.databases.split(',')) {
  const measured = await (database === 'postgres' ? onPostgres() : measure({}))
  databases[database] = measured
  console.log(`${database}: ${measured.seconds.toFixed(1)} s, ${measured.processorSeconds.toFixed(1)} s of processors`)
}
writeResult('import', `node benchmarks/import/run.ts --devices ${DEVICES} --databases ${values.databases}`, {
  devices: DEVICES,
  databases,
})
