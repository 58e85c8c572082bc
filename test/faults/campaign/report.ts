/** What a campaign came to: one line a fault, as JSON and as a page. */
import type { RoundResult } from './round.ts'
import { NO_FAULT, type Fault } from './fault.ts'

/** Of what one round came to; absent is what the campaign of its time did not note. */
type Later = 'longestSilenceMs' | 'acknowledgedMessages' | 'loadMs' | 'judgedMs'

export interface Round extends Omit<RoundResult, 'findings' | 'found' | Later>, Partial<Pick<RoundResult, Later>> {
  /** The campaign it was in. */
  readonly seed: number
  readonly number: number
  readonly row: string
  readonly shape: Fault['shape']
}

export interface FaultLine {
  readonly row: string
  readonly shape: Fault['shape']
  readonly fault: string
  readonly rounds: number
  readonly sent: number
  /** Values, and the publishes and posts that carried them. */
  readonly acknowledged: number
  readonly acknowledgedMessages: number
  readonly unknown: number
  readonly refused: number
  readonly lost: number
  readonly duplicated: number
  readonly outOfOrder: number
  readonly foreign: number
  readonly recoveredFromHealMs: Spread
  readonly recoveredFromInjectionMs: Spread
  readonly readableMs: Spread
  readonly longestSilenceMs: number
  /** Values acknowledged a second of load, outages counted, of rounds that noted how long their load was; absent where none did. */
  readonly valuesPerSecond?: number
}

export interface Spread {
  readonly median: number
  readonly worst: number
}

/** One start of the command. */
export interface Run {
  readonly command: string
  readonly commit: string
  readonly began: string
  readonly ended: string
  readonly rounds: number
}

export interface CampaignReport {
  readonly machine: string
  /** More than one where a run was told to add to the report that is there. */
  readonly runs: readonly Run[]
  readonly skipped: readonly string[]
  readonly findings: readonly string[]
  readonly faults: readonly FaultLine[]
  readonly rounds: readonly Round[]
}

export function linesOf(rounds: readonly Round[]): FaultLine[] {
  const groups = Map.groupBy(rounds, ({ shape, fault }) => `${shape} ${fault}`)
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const sum = (key: Counted): number => group.reduce((total, round) => total + countOf(round, key), 0)
    const spread = (key: 'recoveredFromHealMs' | 'recoveredFromInjectionMs' | 'readableMs'): Spread =>
      spreadOf(group.map((round) => round[key]))
    return {
      row: first.row,
      shape: first.shape,
      fault: first.fault,
      rounds: group.length,
      ...COUNTED.reduce((sums, key) => ({ ...sums, [key]: sum(key) }), NOTHING),
      recoveredFromHealMs: spread('recoveredFromHealMs'),
      recoveredFromInjectionMs: spread('recoveredFromInjectionMs'),
      readableMs: spread('readableMs'),
      longestSilenceMs: Math.max(...group.map(({ longestSilenceMs = 0 }) => longestSilenceMs)),
      ...heldBy(group),
    }
  })
}

function heldBy(rounds: readonly Round[]): Pick<FaultLine, 'valuesPerSecond'> {
  const timed = rounds.filter(({ loadMs }) => loadMs !== undefined)
  if (timed.length === 0) return {}
  const seconds = timed.reduce((sum, { loadMs = 0 }) => sum + loadMs, 0) / 1_000
  return { valuesPerSecond: Math.round(timed.reduce((sum, { acknowledged }) => sum + acknowledged, 0) / seconds) }
}

type Countable = Omit<Counts, 'acknowledgedMessages'> & Partial<Counts>

/** Before there were packs each message was one value. */
function countOf(round: Countable, key: Counted): number {
  return round[key] ?? round.acknowledged
}

const NOTHING = {
  sent: 0,
  acknowledged: 0,
  acknowledgedMessages: 0,
  unknown: 0,
  refused: 0,
  lost: 0,
  duplicated: 0,
  outOfOrder: 0,
  foreign: 0,
}
type Counts = typeof NOTHING
type Counted = keyof Counts
const COUNTED = Object.keys(NOTHING) as Counted[]

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other)
  return { median: sorted[Math.floor(sorted.length / 2)] ?? 0, worst: sorted.at(-1) ?? 0 }
}

export function pageOf(report: CampaignReport): string {
  const total = (lines: readonly Countable[], key: Counted): string =>
    number(lines.reduce((sum, one) => sum + countOf(one, key), 0))
  const paced = report.rounds.filter(({ messagesPerSecond }) => messagesPerSecond !== undefined)
  const unbroken = report.rounds.filter(({ fault }) => fault === NO_FAULT)
  const worlds = Map.groupBy(report.faults.toSorted(byShapeAndName), ({ shape }) => shape)
  return `# Fault campaign

<!-- Written by \`npm run test:faults\`; the figures are in faults.json beside it. -->

${report.rounds.length} rounds, ${unbroken.length} of them without a fault: ${total(report.faults, 'acknowledged')} values in ${total(report.faults, 'acknowledgedMessages')} messages acknowledged, **${total(report.faults, 'lost')} lost, ${total(report.faults, 'duplicated')} doubled, ${total(report.faults, 'outOfOrder')} out of order**
in what is stored (the last column, where not 0/0/0). Values/s: acknowledged while the load lasted, outages counted, where it was noted. ${paced.length} rounds (${total(paced, 'acknowledged')} values) held a part of their world's top rate, or all of it${averageOf(paced)}.${parkedOf(report.rounds)}
${report.machine}, for generator, reader and servers. [How it works](../internals/fault-campaign.md).

${commandsOf(report.runs).join('\n')}

${[...worlds].map(([shape, lines]) => tableOf(shape, lines)).join('\n\n')}

${list('Not run', report.skipped)}${list('Findings', summaryOf(report.findings))}`
}

function tableOf(shape: Fault['shape'], lines: readonly FaultLine[]): string {
  const rows = lines.map((line) => {
    const wrong = [line.lost, line.duplicated, line.outOfOrder + line.foreign].map(number).join('/')
    const counts = [line.rounds, line.acknowledged, line.acknowledgedMessages].map(number)
    const rate = line.valuesPerSecond === undefined ? '' : number(line.valuesPerSecond)
    return cells([line.fault, ...counts, rate, wrong === '0/0/0' ? '' : wrong])
  })
  const head = cells([shape, 'rounds', 'values acknowledged', 'in messages', 'values/s', 'wrong'])
  return [head, cells(['---', '--:', '--:', '--:', '--:', '--:']), ...rows].join('\n')
}

/** What was held in truth, outages counted, and what ran after the load not; of rounds that noted how long their load was. */
function averageOf(rounds: readonly Round[]): string {
  const timed = rounds.filter(({ loadMs }) => loadMs !== undefined)
  const { valuesPerSecond } = heldBy(timed)
  if (valuesPerSecond === undefined) return ''
  return `; the last ${timed.length} of them acknowledged ${number(valuesPerSecond)} values/s, outages counted`
}

/** Lanes that full queues parked, or that failed. */
function parkedOf(rounds: readonly Round[]): string {
  const parking = rounds.filter(({ parkedLanes = 0 }) => parkedLanes > 0)
  if (parking.length === 0) return ''
  const lanes = parking.reduce((sum, { parkedLanes = 0 }) => sum + parkedLanes, 0)
  return ` In ${parking.length} rounds lanes were parked: ${number(lanes)}.`
}

/** One line for the runs that differ in seed and choice of faults alone. */
function commandsOf(runs: readonly Run[]): string[] {
  const groups = Map.groupBy(runs, ({ command }) =>
    command.replace(/SEED=\S+ ROUNDS=\S+ |WORLD_ROUNDS=\S+ |MINUTES=\S+ |FAULTS='[^']*' /g, ''),
  )
  return [...groups].map(([command, group]) => {
    const rounds = group.reduce((sum, run) => sum + run.rounds, 0)
    const commits = [...new Set(group.map(({ commit }) => commit))].join(', ')
    return `- \`${command}\`: ${rounds} rounds, commits ${commits}, ${group[0]?.began} to ${group.at(-1)?.ended}`
  })
}

/** Of the findings of one kind in one round the first, and how many there were. */
function summaryOf(findings: readonly string[]): string[] {
  const groups = Map.groupBy(findings, (text) => text.split(': ').slice(0, 3).join(': '))
  return [...groups.values()].map((group) => (group.length === 1 ? '' : `${group.length} times: `) + (group[0] ?? ''))
}

function byShapeAndName(one: FaultLine, other: FaultLine): number {
  return one.shape.localeCompare(other.shape) || one.fault.localeCompare(other.fault)
}

function cells(texts: readonly string[]): string {
  return `| ${texts.join(' | ')} |`
}

function number(value: number): string {
  return value.toLocaleString('en')
}

function list(title: string, items: readonly string[]): string {
  return items.length === 0 ? `${title}: none.\n\n` : `${title}:\n\n${items.map((item) => `- ${item}\n`).join('')}\n`
}
