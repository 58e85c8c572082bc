/**
 * Where does the processor time of the ingest run go? Sums the self time of CPU profiles by room of the house, start and idle time
 * left out, and prints a table. Make the profiles with `run.ts --profile`; they lie in `.cache/profiles`.
 *
 *   node benchmarks/ingest/profile.ts .cache/profiles/*.cpuprofile
 */
import { readFileSync } from 'node:fs'

interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** The first row that fits names the part; what loads and compiles modules belongs to the start. */
const PARTS: readonly (readonly [RegExp, string])[] = [
  [/^\(idle\)/, 'idle'],
  [/^\(garbage collector\)/, 'garbage collection'],
  [/^\(program\)/, 'native code outside of JavaScript (uWebSockets, libuv)'],
  [/node:internal\/(modules|bootstrap|process|vm|deps)|amaro|wasm|node:internal\/url|internal\/compile/, 'start'],
  [
    /node:(net|stream|internal\/stream|internal\/js_stream|internal\/streams)|handleWriteReq|onStreamRead/,
    'sockets: reads and writes (node:net)',
  ],
  [/node:(fs|internal\/fs)/, 'handing frames to the disk (node:fs)'],
  [/node:(internal\/worker|worker_threads)|postMessage|messageport/, "handing batches to the store's thread"],
  [/\/(transports)\//, 'transports'],
  [/\/engine\/(link)\//, 'engine/link'],
  [/\/engine\/(queue)\//, 'engine/queue'],
  [/\/engine\/(rulechain|script)\/|\/nodes\//, 'engine/rulechain and nodes'],
  [/\/engine\/(device)\//, 'engine/device'],
  [/\/engine\//, 'engine, other'],
  [/\/services\//, 'services'],
  [/\/storage\//, 'storage: encoding for the store'],
  [/\/model\//, 'model (JSON, messages)'],
  [/\/server\//, 'server'],
]

const spent = new Map<string, number>()
for (const file of process.argv.slice(2)) {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as Profile
  const partOf = new Map(
    profile.nodes.map(({ id, callFrame }) => [id, part(`${callFrame.functionName} ${callFrame.url}`)]),
  )
  for (const [index, sample] of profile.samples.entries()) {
    const name = partOf.get(sample) ?? 'other'
    spent.set(name, (spent.get(name) ?? 0) + (profile.timeDeltas[index] ?? 0))
  }
}
spent.delete('idle')
spent.delete('start')
const total = [...spent.values()].reduce((sum, time) => sum + time, 0)
process.stdout.write('| part | share of the main thread’s busy time |\n|---|---|\n')
for (const [name, time] of [...spent].sort((a, b) => b[1] - a[1])) {
  process.stdout.write(`| ${name} | ${((time / total) * 100).toFixed(1)} % |\n`)
}

function part(frame: string): string {
  return PARTS.find(([pattern]) => pattern.test(frame))?.[1] ?? 'other'
}
