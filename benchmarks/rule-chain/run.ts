/**
 * How many messages a second does the example chain take on one core, without link and storage? The expression language runs
 * inline, once from the text (as after a restart) and once decoded by the transport (as in daily life), JavaScript on the pool.
 * Beside them, in turns, the limits: parsing the same texts alone, and a bare function in place of the whole engine.
 *
 *   node --no-node-snapshot benchmarks/rule-chain/run.ts [--seconds 2] [--runs 5] [--pack 1000] [--threads 1] [--only TBEL]
 */
import { parseArgs } from 'node:util'
import { entriesOf } from '../../model/entry-json.ts'
import { parseJson, type JsonObject } from '../../model/json.ts'
import type { ParsedData } from '../../model/message.ts'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import type { RuleTracer } from '../../engine/rulechain/tracer.ts'
import type { ScriptHost } from '../../engine/script/script.ts'
import { spread, writeResult, type Spread } from '../lib/report.ts'
import { BenchmarkWork, messageOf, openRoad, payloads } from './road.ts'
import { openScriptHost } from './script-hosts.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    runs: { type: 'string', default: '5' },
    pack: { type: 'string', default: '1000' },
    /** Of the JavaScript pool. */
    threads: { type: 'string', default: '1' },
    /** TBEL or JS alone, for a profile. */
    only: { type: 'string' },
  },
})
const seconds = Number(values.seconds)
const runs = Number(values.runs)
const packSize = Number(values.pack)
const texts = payloads(packSize)

/** Handles one pack; resolves when it is settled. */
type Pack = () => void | Promise<void>

interface Rate {
  readonly perSecond: number
  /** Per second of processor time of this process: what a busy machine does not falsify. Sandboxes are other processes. */
  readonly perProcessorSecond: number
}

async function rate(pack: Pack): Promise<Rate> {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  let handled = 0
  do {
    await pack()
    handled += packSize
  } while (performance.now() - startedAt < seconds * 1000)
  const { user, system } = process.cpuUsage(before)
  return {
    perSecond: Math.round((handled / (performance.now() - startedAt)) * 1000),
    perProcessorSecond: Math.round((handled / (user + system)) * 1e6),
  }
}

type Rates = Readonly<Record<keyof Rate, Spread>>

/** Runs the contestants in turns, so that a slow minute of the machine hits all of them. */
async function measure(contestants: ReadonlyMap<string, Pack>): Promise<Readonly<Record<string, Rates>>> {
  const rates = new Map([...contestants.keys()].map((name) => [name, [] as Rate[]]))
  for (const pack of contestants.values()) await rate(pack)
  for (let run = 0; run < runs; run++) {
    for (const [name, pack] of contestants) rates.get(name)?.push(await rate(pack))
  }
  return Object.fromEntries(
    [...rates].map(([name, measured]) => [
      name,
      {
        perSecond: spread(measured.map(({ perSecond }) => perSecond)),
        perProcessorSecond: spread(measured.map(({ perProcessorSecond }) => perProcessorSecond)),
      },
    ]),
  )
}

async function chain(
  file: string,
  scripts: ScriptHost,
  known: readonly (ParsedData | undefined)[],
  tracer?: RuleTracer,
): Promise<{ readonly pack: Pack; close(): Promise<void> }> {
  const road = await openRoad(new URL(`../../examples/${file}`, import.meta.url), scripts, tracer)
  const tooHot = texts.filter((text) => text.includes('81.5')).length
  let packs = 0
  let failed = 0
  const pack: Pack = () =>
    new Promise((resolve) => {
      packs++
      const state = { open: packSize, failed: 0, done: settled }
      function settled(): void {
        failed += state.failed
        resolve()
      }
      road.engine.process(texts.map((text, index) => new BenchmarkWork(messageOf(text, index, known[index]), state)))
    })
  const close = async (): Promise<void> => {
    await road.close()
    // A run that lost or misrouted a message is void.
    const { logged, saved } = road.figures
    if (failed === 0 && logged === packs * tooHot && saved === packs * (packSize - tooHot) * 3) return
    throw new Error(
      `void: of ${packs} packs ${failed} messages failed, ${logged} were logged, ${saved} points were saved`,
    )
  }
  return { pack, close }
}

/** The same decision without any engine around it. */
function bareFunction(): void {
  let passed = 0
  texts.forEach((text, index) => {
    const body = messageOf(text, index).json() as { readonly temperature?: number }
    if (body.temperature === undefined || (body.temperature >= -40 && body.temperature <= 80)) passed++
  })
  if (passed === 0) throw new Error('nothing passed')
}

function parseAlone(): void {
  for (const text of texts) parseJson(text)
}

const contestants = new Map<string, Pack>()
if (values.only === undefined) contestants.set('parse alone', parseAlone).set('bare function', bareFunction)
const closers: (() => Promise<void>)[] = []
/** What the transports hand over with each text: they decoded it to check it, and nobody parses it again. */
const decoded = texts.map((text): ParsedData => {
  const json = parseJson(text)
  return { json, entries: entriesOf(json as JsonObject, { castStrings: true, nulls: 'skip' }) }
})
/** What the hooks cost beside a road without them. */
let traced = 0
const counting: RuleTracer = {
  run: () => void traced++,
  dispatch: () => void traced++,
  fail: () => void traced++,
}
for (const [name, file, language, known, tracer] of [
  ['TBEL', 'temperature-filter.json', 'TBEL', [], undefined],
  ['TBEL, decoded by the transport', 'temperature-filter.json', 'TBEL', decoded, undefined],
  ['TBEL, decoded, with a tracer that counts', 'temperature-filter.json', 'TBEL', decoded, counting],
  ['JavaScript on the pool', 'temperature-filter-javascript.json', 'JS', [], undefined],
] as const) {
  if (values.only !== undefined && values.only !== language) continue
  const host = openScriptHost(language, systemClock, systemRandom, Number(values.threads))
  const opened = await chain(file, host.scripts, known, tracer)
  contestants.set(name, opened.pack)
  closers.push(async () => {
    await opened.close()
    await host.close()
  })
}

const messages = await measure(contestants)
for (const close of closers) await close()
const command = `node --no-node-snapshot benchmarks/rule-chain/run.ts ${process.argv.slice(2).join(' ')}`.trim()
const result = { packSize, secondsPerRun: seconds, peakRssKiB: process.resourceUsage().maxRSS, messages }
if (values.only === undefined) writeResult('rule-chain', command, result)
else console.log(JSON.stringify(result, null, 2))
