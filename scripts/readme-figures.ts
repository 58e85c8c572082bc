/**
 * `node scripts/readme-figures.ts`: writes the figures of `benchmarks/results` and of the fault campaign into the marked regions of README.md:
 *
 *   <!-- figures: rates -->  … <!-- end of figures -->
 *   <!-- figures: faults --> … <!-- end of figures -->
 *
 * Nobody types a figure there: a test fails where a region differs from the files.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')
const README = join(ROOT, 'README.md')
const REGION = /(<!-- figures: (\w+) -->\n)[^]*?(<!-- end of figures -->)/g

interface Spread {
  readonly median: number
}
/** Written by our own programs: their shape is known. */
interface Result {
  readonly machine: { readonly commit: string; readonly dirty?: boolean; readonly date: string; readonly cores: number }
  readonly results: Readonly<Record<string, Readonly<Record<string, Spread | undefined>> | undefined>>
}
interface Faults {
  readonly rounds: readonly unknown[]
  readonly faults: readonly FaultCounts[]
}

interface FaultCounts extends Readonly<Record<'acknowledged' | 'lost' | 'duplicated' | 'outOfOrder', number>> {
  /** Of the table of promises; empty where a world was measured without a fault. */
  readonly row: string
}

const COLUMNS = [
  { title: 'embedded', suffix: '' },
  { title: 'production, one NATS', suffix: '-production' },
  { title: 'production, three NATS', suffix: '-three-copies' },
] as const

interface Row {
  readonly title: string
  readonly benchmark: string
  readonly cell: (result: Result) => string | undefined
}

const ROWS: readonly Row[] = [
  ingest('HTTP, 100 devices, 1 in flight', 'HTTP, 1 in flight a device'),
  ingest('MQTT QoS 1, 1 in flight', 'MQTT QoS 1, 1 in flight a device'),
  ingest('MQTT QoS 1, 10 in flight', 'MQTT QoS 1, 10 in flight a device'),
  latency('WebSocket update after a publish', 'subscription', 'WebSocket update after the publish'),
  latency('newest 100 points of 1 M, REST', 'query', 'newest 100 points'),
  latency('average by the hour over 1 M points', 'query', 'average by the hour over all points'),
]

/** README.md as it must be. */
export function withFigures(readme: string): string {
  return readme.replace(REGION, (_, head: string, name: string, end: string) => {
    if (name === 'rates') return `${head}${ratesTable()}${end}`
    if (name === 'faults') return `${head}${faultsLine()}${end}`
    throw new Error(`README.md has a region of figures called "${name}": there are rates and faults`)
  })
}

export function regionsOf(readme: string): readonly string[] {
  return [...readme.matchAll(REGION)].map(([, , name = '']) => name)
}

function ratesTable(): string {
  const columns = COLUMNS.filter(({ suffix }) => ROWS.some((row) => resultOf(row.benchmark + suffix) !== undefined))
  const head = ['', ...columns.map(({ title }) => title), '`npm run bench --`']
  const rows = ROWS.map(({ title, benchmark, cell }) => {
    const cells = columns.map(({ suffix }) => {
      const result = resultOf(benchmark + suffix)
      return (result === undefined ? undefined : cell(result)) ?? ''
    })
    return line([title, ...cells, `\`${benchmark}\``])
  })
  const commits = columns.map(({ title, suffix }) => {
    const machine = resultOf(`ingest${suffix}`)?.machine
    const dirty = machine?.dirty === true ? ' with changes' : ''
    return machine === undefined
      ? `${title}: not measured`
      : `${title}: ${machine.date}, commit ${machine.commit}${dirty}`
  })
  return `${[line(head), line(head.map(() => '---')), ...rows].join('\n')}\n\nRates were measured at: ${commits.join('; ')}.\n`
}

function ingest(title: string, name: string): Row {
  return {
    title,
    benchmark: 'ingest',
    cell: ({ results }) => {
      const found = results[name]
      if (found === undefined) return undefined
      const rate = rounded(found['pointsPerSecond']?.median ?? 0)
      const bare = rounded(found['bareServerPointsPerSecond']?.median ?? 0)
      const broker = found['mosquittoMessagesPerSecond']
      const beside = broker === undefined ? '' : `; mosquitto: ${rounded(broker.median)} messages/s`
      const p50 = milliseconds(found['acknowledgementP50Ms'])
      const p99 = milliseconds(found['acknowledgementP99Ms'])
      return `${rate} points/s, p50 ${p50}, p99 ${p99} (bare server: ${bare}${beside})`
    },
  }
}

function latency(title: string, benchmark: string, name: string): Row {
  return {
    title,
    benchmark,
    cell: ({ results }) => {
      const found = results[name]
      if (found === undefined) return undefined
      return `${milliseconds(found['medianMs'])}, p99 ${milliseconds(found['p99Ms'])}`
    },
  }
}

function faultsLine(): string {
  const { rounds, faults } = JSON.parse(readFileSync(join(ROOT, 'docs', 'reports', 'faults.json'), 'utf8')) as Faults
  const broken = faults.filter(({ row }) => row !== '')
  const total = (name: Exclude<keyof FaultCounts, 'row'>): string =>
    faults.reduce((sum, one) => sum + one[name], 0).toLocaleString('en')
  return `${rounds.length} rounds over ${broken.length} faults: ${total('acknowledged')} values acknowledged, ${total('lost')} lost, ${total('duplicated')} doubled, ${total('outOfOrder')} out of order.\n`
}

function resultOf(name: string): Result | undefined {
  const file = join(ROOT, 'benchmarks', 'results', `${name}.json`)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Result) : undefined
}

function rounded(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en')
}

function milliseconds(spread: Spread | undefined): string {
  const value = spread?.median ?? 0
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

if (process.argv[1] === import.meta.filename) {
  const before = readFileSync(README, 'utf8')
  const after = withFigures(before)
  writeFileSync(README, after)
  process.stdout.write(`${regionsOf(before).length} regions, ${before === after ? 'as they were' : 'written'}\n`)
}
