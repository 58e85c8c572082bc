/** `chain shadow FILE`, `chain replay FILE`: a version of a rule chain on the messages of a running Millrace, and what it would do. */
import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { defineErrors, errorText } from '../model/errors.ts'
import { parseJson, stringifyJson, type JsonObject, type JsonValue } from '../model/json.ts'
import { chainIdByName } from './chain-by-name.ts'
import { Progress } from './progress.ts'
import { runRestCommand, wholeNumber, type CommandOutput, type RestCall } from './rest-command.ts'
import { DEFAULT_SERVER, type RestSession } from './rest-session.ts'

const SERVER = `  --beside NAME        the live chain (default: the one of the file's name)
  --messages N         at most so many messages of the tenant (default 10000)
  --report FILE        write the whole report there, as JSON
  --url URL            the server (default ${DEFAULT_SERVER.url})
  --user EMAIL         a tenant administrator (default ${DEFAULT_SERVER.user})
  --password TEXT      default: the environment's MILLRACE_PASSWORD, else the demo login's
`

export const CHAIN_TRIAL_USAGE = `chain shadow FILE        the file beside the live chain on the messages that come: where they differ; nothing is stored or sent
  --seconds N          how long (default 60)
${SERVER}chain replay FILE        the retained log through the file
  --from TIME          such as 2026-01-31T12:00:00Z, or how long ago: 90s, 15m, 2h
  --real               really store and send
${SERVER}
The file is not saved. Exit code 1 if they differ or messages fail.
`

const TrialErrors = defineErrors('chain-trial', {
  FILE: { kind: 'invalid', status: 400, text: '{file} is no exported rule chain: {reason}' },
  FROM: { kind: 'invalid', status: 400, text: '--from: a time or how long ago is expected, such as 15m' },
  FAILED: { kind: 'terminal', status: 500, text: 'the trial failed: {reason}' },
  FOUND: { kind: 'invalid', status: 400, text: '{what}' },
})

const LOOK_MS = 500

const anyObject = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value))
const fileSchema = z.union([
  z.object({ ruleChain: z.looseObject({ name: z.string() }), metadata: anyObject }),
  z
    .object({ entity: z.looseObject({ name: z.string() }), metaData: anyObject })
    .transform(({ entity, metaData }) => ({ ruleChain: entity, metadata: metaData })),
])
const counts = z.record(z.string(), z.number())
const anyJson = z.custom<JsonValue>()
const reportSchema = z.looseObject({
  ...{ id: z.string(), kind: z.string(), phase: z.string(), reason: z.string().optional(), cut: z.string().optional() },
  ...{ isReal: z.boolean(), from: z.number(), until: z.number(), reached: z.number() },
  ...{ retainedFrom: z.number().optional(), messages: z.number(), maxMessages: z.number() },
  ...{ reachedChain: z.number(), failed: z.number(), unended: z.number(), passedOver: z.number() },
  ...{ differing: z.number(), untoldNodes: z.number() },
  differences: z.array(
    z.object({
      ...{ node: z.string(), what: z.string(), messages: z.number() },
      examples: z.array(
        z.object({
          ...{ messageId: z.string(), messageType: z.string() },
          ...{ live: z.array(anyJson), tried: z.array(anyJson) },
        }),
      ),
    }),
  ),
  nodes: z.array(z.object({ node: z.string(), entered: z.number(), relations: counts, effects: counts })),
  unstarted: z.array(z.object({ node: z.string(), version: z.string(), reason: z.string() })),
})
type Report = z.infer<typeof reportSchema>

const common = {
  ...{ beside: z.string().optional(), report: z.string().optional() },
  messages: wholeNumber(1).default(10_000),
}
const shadowFlags = z.object({ ...common, seconds: wholeNumber(1).default(60) })
const replayFlags = z.object({ ...common, from: z.string(), real: z.boolean().default(false) })

/** Resolves with the exit code. */
export function chainTrial(kind: string, argv: readonly string[], output?: CommandOutput): Promise<number> {
  const usage = CHAIN_TRIAL_USAGE
  const argument = 'exactly one FILE'
  if (kind === 'shadow') {
    const run = (call: RestCall<z.infer<typeof shadowFlags>>) =>
      tried(call, { kind, durationMs: call.flags.seconds * 1000 })
    return runRestCommand({ usage, argument, flags: shadowFlags, run }, argv, output)
  }
  const run = (call: RestCall<z.infer<typeof replayFlags>>) =>
    tried(call, { kind: 'replay', real: call.flags.real, from: timeOf(call.flags.from) })
  return runRestCommand({ usage, argument, flags: replayFlags, run }, argv, output)
}

interface CommonFlags {
  readonly beside?: string | undefined
  readonly report?: string | undefined
  readonly messages: number
}

async function tried({ argument, flags, open, output }: RestCall<CommonFlags>, order: JsonObject): Promise<void> {
  const { ruleChain, metadata } = await readFileOf(argument)
  const session = await open()
  const chainId = await chainIdByName(session, flags.beside ?? ruleChain.name)
  const { version: _version, ruleChainId: _id, ...drawing } = metadata
  const body = { ...order, maxMessages: flags.messages, metadata: drawing }
  const begun = reportSchema.parse(await session.request('POST', `/api/ruleChain/${chainId}/trial`, body))
  const report = await followed(session, begun)
  if (flags.report !== undefined) await writeReport(flags.report, report)
  for (const line of reportLines(report)) output.out(line)
  if (report.phase === 'failed') throw TrialErrors.FAILED({ reason: report.reason ?? 'unknown' })
  const { differing, failed, unended } = report
  if (differing + failed + unended > 0)
    throw TrialErrors.FOUND({ what: `${differing} messages differ, ${failed} failed, ${unended} never ended` })
}

/** An interrupt ends the trial, which then says what it found. */
async function followed(session: RestSession, begun: Report): Promise<Report> {
  const progress = new Progress()
  const path = `/api/ruleChain/trial/${begun.id}`
  let isInterrupted = false
  const interrupt = (): void => void (isInterrupted = true)
  process.once('SIGINT', interrupt)
  try {
    for (let report = begun; ;) {
      const span = Math.max(1, report.until - report.from)
      const isDone = report.phase === 'done' && report.cut === undefined
      const now = report.kind === 'shadow' ? Math.min(Date.now(), report.until) : report.reached
      const passed = isDone ? span : Math.max(0, now - report.from)
      progress.show(`${report.messages} messages`.padEnd(12), passed, span, 'ms of the log')
      if (report.phase !== 'running') return report
      await delay(LOOK_MS)
      report = reportSchema.parse(await session.request(isInterrupted ? 'DELETE' : 'GET', path))
    }
  } finally {
    process.off('SIGINT', interrupt)
    progress.end()
  }
}

/** For a terminal. */
function reportLines(report: Report): readonly string[] {
  const { messages, reachedChain, failed, unended, passedOver, differing, untoldNodes } = report
  const retained = report.retainedFrom === undefined ? 'nothing' : `from ${timeText(report.retainedFrom)} on`
  return [
    `the log holds ${retained}; looked at ${timeText(report.from)} to ${timeText(report.reached)}`,
    ...(report.cut === undefined ? [] : [`cut: ${CUTS[report.cut] ?? report.cut}`]),
    `${messages} messages, ${reachedChain} came to the chain, ${failed} failed, ${unended} never ended, ${passedOver} passed over`,
    ...report.unstarted.map(({ node, version, reason }) => `node '${node}' (${version}) does not start: ${reason}`),
    ...report.nodes.map(({ node, entered, relations, effects }) =>
      [
        `  ${node}: ${entered}`,
        ...Object.entries(relations).map(([relation, count]) => `${relation} ${count}`),
        ...Object.entries(effects).map(([effect, count]) => `${effect}${report.isReal ? '' : ' (not done)'} ${count}`),
      ].join(', '),
    ),
    ...(differing === 0 ? [] : [`${differing} messages differ:`]),
    ...report.differences.flatMap(({ node, what, messages: count, examples }) => [
      `  ${node}: ${what} of ${count}`,
      ...examples.flatMap(({ messageId, messageType, live, tried: now }) => [
        `    ${messageType} ${messageId}`,
        ...live.map((value) => `      - ${stringifyJson(value)}`),
        ...now.map((value) => `      + ${stringifyJson(value)}`),
      ]),
    ]),
    ...(untoldNodes === 0 ? [] : [`  and ${untoldNodes} differences at further nodes`]),
  ]
}

const CUTS: Readonly<Record<string, string>> = {
  messages: 'more messages came than were asked for (--messages)',
  time: 'messages came faster than they could be tried beside the live road',
}

function timeText(time: number): string {
  return new Date(time).toISOString()
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Throws `FROM`. */
function timeOf(text: string): number {
  const ago = /^(\d{1,9})([smhd])$/.exec(text)
  if (ago !== null) return Math.max(0, Date.now() - Number(ago[1]) * (UNITS[ago[2] ?? ''] ?? 0))
  const time = /^\d{10,15}$/.test(text) ? Number(text) : Date.parse(text)
  if (!Number.isSafeInteger(time) || time < 0) throw TrialErrors.FROM()
  return time
}

async function readFileOf(file: string): Promise<z.infer<typeof fileSchema>> {
  try {
    return fileSchema.parse(parseJson(await readFile(file, 'utf8')))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : errorText(error)
    throw TrialErrors.FILE({ file, reason }, error)
  }
}

async function writeReport(file: string, report: Report): Promise<void> {
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`)
}
