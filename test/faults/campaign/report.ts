/** What a campaign came to: one line a fault, as JSON and as a page. */
import type { RoundResult } from './round.ts'
import type { Fault } from './fault.ts'

export interface Round extends Omit<RoundResult, 'findings' | 'found' | 'longestSilenceMs'> {
  /** Absent where a run's end kept only its progress lines. */
  readonly longestSilenceMs?: number
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
  readonly acknowledged: number
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
    const sum = (key: Counted): number => group.reduce((total, round) => total + round[key], 0)
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
    }
  })
}

const NOTHING = {
  sent: 0,
  acknowledged: 0,
  unknown: 0,
  refused: 0,
  lost: 0,
  duplicated: 0,
  outOfOrder: 0,
  foreign: 0,
}
type Counted = keyof typeof NOTHING
const COUNTED = Object.keys(NOTHING) as Counted[]

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other)
  return { median: sorted[Math.floor(sorted.length / 2)] ?? 0, worst: sorted.at(-1) ?? 0 }
}

export function pageOf(report: CampaignReport): string {
  const total = (key: Counted): string => number(report.faults.reduce((sum, line) => sum + line[key], 0))
  const rows = report.faults.map((line) =>
    cells([
      line.row,
      line.shape,
      line.fault,
      ...[line.rounds, line.acknowledged, line.unknown, line.refused, line.lost, line.duplicated, line.outOfOrder].map(
        number,
      ),
      spreadText(line.recoveredFromHealMs),
      spreadText(line.recoveredFromInjectionMs),
      spreadText(line.readableMs),
      seconds(line.longestSilenceMs),
    ]),
  )
  return `# Fault campaign

<!-- Written by \`npm run test:faults\`; the figures are in faults.json beside it. -->

${report.rounds.length} rounds: ${total('acknowledged')} values acknowledged, **${total('lost')} lost, ${total('duplicated')} duplicated,
${total('outOfOrder')} out of order, ${total('foreign')} foreign**.

${report.runs.map(runText).join('\n')}
- Machine: ${report.machine}.
- Each round: 16 new devices (half over MQTT QoS 1 with up to 8 in flight, half over HTTP; half with times of their own) send
  numbered values through a JavaScript node; the fault comes at a random moment and is healed; all is read back over REST, and again
  when the world ends. A value is sent once. "Unknown" is a value without an answer, "refused" one with an answer that is not yes (or
  no connection to send it over): either may be there, at most once.
- Order is that of the stored times within a device, and the latest value is the last of the history.
- Recovery is until the last of the devices has something new acknowledged: from the heal (a killed process or server answers again)
  and from the injection, which has the time of the fault and of the restart in it. "Readable" is from the heal until the reader sees
  all that was acknowledged before it. Silence is the longest time without an acknowledgement on any one device.
- Times are median / worst of the rounds, in seconds, load generator, reader and all servers on the same machine.

${cells(HEAD)}
${cells(HEAD.map((_, index) => (index < 3 ? '---' : '--:')))}
${rows.join('\n')}

${list('Not run or not recorded', report.skipped)}${list('Findings', report.findings)}`
}

function runText({ command, commit, began, ended, rounds }: Run): string {
  return `- \`${command}\`: ${rounds} rounds, commit ${commit}, ${began} to ${ended}.`
}

const HEAD = [
  'row',
  'shape',
  'fault',
  'rounds',
  'acknowledged',
  'unknown',
  'refused',
  'lost',
  'duplicated',
  'out of order',
  'recovered from heal',
  'from injection',
  'readable',
  'longest silence',
]

function cells(texts: readonly string[]): string {
  return `| ${texts.join(' | ')} |`
}

function number(value: number): string {
  return value.toLocaleString('en')
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(1)
}

function spreadText({ median, worst }: Spread): string {
  return `${seconds(median)} / ${seconds(worst)}`
}

function list(title: string, items: readonly string[]): string {
  return items.length === 0 ? `${title}: none.\n\n` : `${title}:\n\n${items.map((item) => `- ${item}\n`).join('')}\n`
}
