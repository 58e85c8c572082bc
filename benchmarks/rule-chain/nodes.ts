/**
 * What a node costs a message, without link and storage: a chain of twenty such nodes beside a chain of one, in processor time. And two chains of
 * twenty: one whose nodes route a message, log and save it, and one of different nodes, nine of which write to it. What nodes ask of the
 * platform is at hand, as on a hit of its caches; a count of promises shows where a message still makes some.
 *
 *   node --no-node-snapshot benchmarks/rule-chain/nodes.ts [--seconds 0.5] [--runs 5] [--only 'chain of 20']
 */
import { parseArgs } from 'node:util'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import type { ScriptHost } from '../../engine/script/script.ts'
import { spread, writeResult, type Spread } from '../lib/report.ts'
import { openRow, PACK, promisesOf, type OpenedRow } from './row.ts'
import { openScriptHost } from './script-hosts.ts'
import { javaScriptSteps, routing, steps, type Step } from './steps.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '0.5' },
    runs: { type: 'string', default: '5' },
    /** Rows whose name holds this; the result is printed, not written. */
    only: { type: 'string' },
  },
})
const IN_A_ROW = 20
const CHAIN = `chain of ${IN_A_ROW}`
const milliseconds = Number(values.seconds) * 1000
const runs = Number(values.runs)

/** Microseconds of processor time of this process a message; garbage collection on its threads too. */
async function cost(pack: OpenedRow['pack']): Promise<number> {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  let packs = 0
  do {
    await pack()
    packs++
  } while (performance.now() - startedAt < milliseconds)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / packs / PACK
}

interface Contestant {
  readonly name: string
  readonly row: readonly Step[]
  readonly scripts: ScriptHost
}

const tbel = openScriptHost('TBEL', systemClock, systemRandom, 1)
const pool = openScriptHost('JS', systemClock, systemRandom, 1)
const contestants: Contestant[] = [
  { name: `${CHAIN} that route, log and save`, row: routing, scripts: tbel.scripts },
  { name: `${CHAIN} different ones`, row: steps, scripts: tbel.scripts },
]
for (const step of steps)
  contestants.push({ name: step.node.name, row: new Array<Step>(IN_A_ROW).fill(step), scripts: tbel.scripts })
for (const step of javaScriptSteps)
  contestants.push({ name: `${step.node.name}, JavaScript on the pool`, row: [step, step], scripts: pool.scripts })

const table: Record<string, { readonly microseconds: Spread; readonly promises: number }> = {}
const chains: Record<string, { readonly messagesPerProcessorSecond: Spread; readonly promises: number }> = {}
for (const { name, row, scripts } of contestants.filter((one) => one.name.includes(values.only ?? ''))) {
  const [first] = row
  if (first === undefined) continue
  const long = await openRow(row, scripts)
  const short = await openRow([first], scripts)
  await cost(long.pack)
  await cost(short.pack)
  const perNode: number[] = []
  const perSecond: number[] = []
  for (let run = 0; run < runs; run++) {
    const whole = await cost(long.pack)
    perSecond.push(Math.round(1e6 / whole))
    perNode.push((whole - (await cost(short.pack))) / (row.length - 1))
  }
  const promises = Number(((await promisesOf(long.pack)) / row.length).toFixed(2))
  await long.close()
  await short.close()
  if (name.startsWith(CHAIN))
    chains[name] = { messagesPerProcessorSecond: spread(perSecond), promises: promises * row.length }
  else table[name] = { microseconds: spread(perNode.map((value) => Number(value.toFixed(3)))), promises }
  process.stderr.write(`${name}: ${JSON.stringify(chains[name] ?? table[name])}\n`)
}
await tbel.close()
await pool.close()

const result = { packSize: PACK, chains, perVisit: table }
if (values.only !== undefined) console.log(JSON.stringify(result, null, 2))
else
  writeResult(
    'rule-nodes',
    `node --no-node-snapshot benchmarks/rule-chain/nodes.ts --seconds ${values.seconds} --runs ${runs}`,
    result,
  )
