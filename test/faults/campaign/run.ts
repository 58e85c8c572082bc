/**
 * `npm run test:faults`: the fault campaign. Every fault of the list, `ROUNDS` times each (3), in an order made by chance, with the
 * seed of `SEED`; `FAULTS` picks by a regular expression over "shape name". `PACE=0.5` holds half of the world's top rate meanwhile,
 * at least for `LOAD_SECONDS` a round (0); `WORLD_ROUNDS` begins a new world after so many rounds; `MINUTES` begins no round after that time;
 * `SLOWNESS` widens the limits; `CROWDING_MS=5000` lets full queues park what is in process for longer, which is off in most worlds. Writes docs/reports/faults.md and faults.json (elsewhere with `REPORT_DIR`; `ADD=1` adds to the report that is
 * there) and ends with 1 when anything was lost, doubled, out of order or did not recover.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '../../support/seeded-random.ts'
import { PROJECT_ROOT } from '../../support/start-millrace.ts'
import { ALL_FAULTS, measureOn, openStage, randomOfRound, readAllAgain, runOn, type Stage } from './campaign.ts'
import type { Fault } from './fault.ts'
import type { Pace } from './paced-load.ts'
import { linesOf, pageOf, type CampaignReport, type Round } from './report.ts'
import type { RoundResult } from './round.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
const PATTERN = process.env['FAULTS'] ?? ''
const REPORT_DIR = process.env['REPORT_DIR'] ?? join(PROJECT_ROOT, 'docs', 'reports')

/** Of the top rate, in the background; 0: no load but that of the devices. */
const PACE = Number(process.env['PACE'] ?? 0)
const MIN_LOAD_MS = 1_000 * Number(process.env['LOAD_SECONDS'] ?? 0)
const WORLD_ROUNDS = Number(process.env['WORLD_ROUNDS'] ?? Infinity)
const CROWDING_MS = process.env['CROWDING_MS']
const LAST_ROUND_AT = performance.now() + 60_000 * Number(process.env['MINUTES'] ?? Infinity)

const COMMIT = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: PROJECT_ROOT, encoding: 'utf8' }).trim()
const began = new Date()
const { seed } = seededRandom()
const chosen = ALL_FAULTS.map(inWorldOf).filter(({ shape, name }) => new RegExp(PATTERN).test(`${shape} ${name}`))
const planned = chosen.length * ROUNDS
const earlier = process.env['ADD'] === '1' ? readReport() : undefined
const rounds: Round[] = []
const skipped: string[] = []
const findings: string[] = []
let stage: Stage | undefined
let roundsInWorld = 0
let pace: Pace | undefined
let interrupted = false

process.once('SIGINT', () => {
  interrupted = true
  say('no further round begins')
})
say(`${planned} rounds of ${chosen.length} faults; repeat with SEED=${seed}`)
try {
  for (const [place, faults] of Map.groupBy(chosen, routeOf)) await runIn(place, faults)
} finally {
  await stage?.close()
}
write()
say(`${rounds.length} rounds, ${findings.length} findings; the report is ${join(REPORT_DIR, 'faults.md')}`)
process.exitCode = findings.length === 0 ? 0 : 1

/** Faults of one place share a world: what one fault leaves behind, the next one meets. */
function routeOf({ shape, onSmallDisk, smallDiskOf, crowdingTimeoutMs }: Fault): string {
  const disk = onSmallDisk === true ? ` with a small disk for ${smallDiskOf ?? 'its data'}` : ''
  return shape + disk + (crowdingTimeoutMs === undefined ? '' : ` that parks after ${crowdingTimeoutMs} ms`)
}

/** Crowding of every world, where it is asked for. */
function inWorldOf(fault: Fault): Fault {
  return CROWDING_MS === undefined ? fault : { crowdingTimeoutMs: Number(CROWDING_MS), ...fault }
}

async function runIn(place: string, faults: readonly Fault[]): Promise<void> {
  const order = shuffled(Array.from({ length: ROUNDS }, () => faults).flat())
  for (const fault of order) {
    if (interrupted || performance.now() > LAST_ROUND_AT) break
    const on = stage ?? (await open(place, fault))
    if (on === 'not here') return
    if (on === 'failed') continue
    if (stage === undefined) {
      stage = on
      await begin(on, fault)
    }
    await runRoundOf(on, fault)
    if (++roundsInWorld >= WORLD_ROUNDS) await endWorld(place)
  }
  await endWorld(place)
}

async function endWorld(place: string): Promise<void> {
  if (stage === undefined) return
  for (const text of await readAllAgain(stage)) find(`read again at the end of ${place}: ${text}`)
  await closeStage()
}

/** Counts a world's rounds, and measures its rate where a part of it is to be held. */
async function begin(on: Stage, { shape }: Fault): Promise<void> {
  roundsInWorld = 0
  if (PACE === 0) return
  const measured = await measureOn(on)
  pace = new Map([...measured.pace].map(([size, valuesPerSecond]) => [size, PACE * valuesPerSecond]))
  const { findings: found, found: _, ...result } = measured.result
  const number = rounds.length + 1
  rounds.push({ ...result, seed, number, row: '', shape })
  say(
    `${shape}: ${result.valuesPerSecond} values/s in ${result.messagesPerSecond} messages/s at most, ${result.acknowledged} acknowledged, ` +
      `${result.lost} lost, ${timesOf(result)}`,
  )
  for (const text of found) find(`${shape}, ${result.fault}: ${text}`)
  if (found.length > 0) keepLogs(on, number)
}

async function open(place: string, fault: Fault): Promise<Stage | 'not here' | 'failed'> {
  let opened: Stage | string
  try {
    opened = await openStage(fault, seed)
  } catch (error) {
    find(`${place} did not start: ${String(error)}`)
    return 'failed'
  }
  if (typeof opened !== 'string') return opened
  skipped.push(`${place}: ${opened}`)
  say(`skipped: ${place}: ${opened}`)
  return 'not here'
}

async function runRoundOf(on: Stage, fault: Fault): Promise<void> {
  const number = rounds.length + 1
  const name = `round ${number} of ${planned}: ${fault.row} ${fault.shape}, ${fault.name}`
  try {
    const {
      findings: found,
      found: _,
      ...result
    } = await runOn(on, fault, randomOfRound(seed, number), { pace, minLoadMs: MIN_LOAD_MS })
    rounds.push({ ...result, seed, number, row: fault.row, shape: fault.shape })
    const { valuesPerSecond, acknowledged, unknown, refused, lost, duplicated, outOfOrder, foreign } = result
    const beside = valuesPerSecond === undefined ? '' : `${valuesPerSecond} values/s beside, `
    say(
      `${name}: ${beside}acknowledged ${acknowledged}, unknown ${unknown}, refused ${refused}, lost ${lost}, duplicated ${duplicated}, ` +
        `out of order ${outOfOrder}, foreign ${foreign}, recovered ${result.recoveredFromHealMs} ms from heal, ` +
        `${result.recoveredFromInjectionMs} ms from injection, ${result.parkedLanes} lanes parked, readable ${result.readableMs} ms, ${timesOf(result)}`,
    )
    for (const text of found) find(`${name}: ${text}`)
    if (found.length > 0) keepLogs(on, number)
    write()
  } catch (error) {
    // A world that broke in a way that the round does not know is no ground for the next fault.
    find(`${name}: ${String(error)}`)
    keepLogs(on, number)
    await closeStage()
  }
}

function timesOf({ loadMs, judgedMs }: Pick<RoundResult, 'loadMs' | 'judgedMs'>): string {
  return `${loadMs} ms of load judged in ${judgedMs} ms`
}

async function closeStage(): Promise<void> {
  const closing = stage
  stage = undefined
  await closing?.close()
}

function find(text: string): void {
  findings.push(text)
  say(`FINDING ${text}`)
}

/** Beside the report: what every process said up to here. */
function keepLogs({ world }: Stage, round: number): void {
  const folder = join(PROJECT_ROOT, '.cache', 'fault-logs', `${seed}-${round}`)
  mkdirSync(folder, { recursive: true })
  for (const { name, process: running } of world.members) writeFileSync(join(folder, `${name}.log`), running.log())
  for (const [name, servers] of Object.entries(world.servers)) {
    for (const [index, server] of servers.entries()) writeFileSync(join(folder, `${name}-${index}.log`), server.log())
  }
  say(`the logs are in ${folder}`)
}

function shuffled(faults: readonly Fault[]): Fault[] {
  const chance = seededRandom(seed)
  return faults
    .map((fault) => ({ fault, at: chance.next() }))
    .sort((one, other) => one.at - other.at)
    .map(({ fault }) => fault)
}

/** After every round: what ends a run early costs the rounds before it nothing. */
function write(): void {
  const only = PATTERN === '' ? '' : `FAULTS='${PATTERN}' `
  const settings = ['PACE', 'LOAD_SECONDS', 'WORLD_ROUNDS', 'MINUTES', 'SLOWNESS', 'CROWDING_MS']
    .flatMap((name) => (process.env[name] === undefined ? [] : [`${name}=${process.env[name]} `]))
    .join('')
  const run = {
    command: `SEED=${seed} ROUNDS=${ROUNDS} ${settings}${only}npm run test:faults`,
    commit: COMMIT,
    began: minute(began),
    ended: minute(new Date()),
    rounds: rounds.length,
  }
  const all = [...(earlier?.rounds ?? []), ...rounds]
  const report: CampaignReport = {
    machine: machinesOf(earlier),
    runs: [...(earlier?.runs ?? []), run],
    skipped: [...(earlier?.skipped ?? []), ...skipped],
    findings: [...(earlier?.findings ?? []), ...findings],
    faults: linesOf(all),
    rounds: all,
  }
  mkdirSync(REPORT_DIR, { recursive: true })
  writeFileSync(join(REPORT_DIR, 'faults.json'), `${JSON.stringify(report, undefined, 2)}\n`)
  writeFileSync(join(REPORT_DIR, 'faults.md'), pageOf(report))
}

/** Rounds that were added may be of another one. */
function machinesOf(before: CampaignReport | undefined): string {
  const here = `${cpus().length} cores, ${cpus()[0]?.model ?? 'of an unknown model'}, Node.js ${process.version}`
  return before === undefined || before.machine.endsWith(here)
    ? (before?.machine ?? here)
    : `${before.machine}; then ${here}`
}

/** Written by this program: its shape is known. */
function readReport(): CampaignReport | undefined {
  const file = join(REPORT_DIR, 'faults.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as CampaignReport) : undefined
}

function minute(date: Date): string {
  return `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

function say(text: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`)
}
