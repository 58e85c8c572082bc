/** Runs scripts that try to get out, in both languages, and looks at everything that comes back. */
import { createScriptHost } from '../../../engine/script/host.ts'
import { createJavaScriptWorkers } from '../../../engine/script/javascript/javascript-workers.ts'
import { outcomesOf, scriptMessage } from '../../../engine/script/javascript/testkit.ts'
import { isMillraceError } from '../../../model/errors.ts'
import { systemClock, systemRandom } from '../../../model/system-clock.ts'
import type { Message } from '../../../model/message.ts'
import type { CompiledScript, ScriptLanguage } from '../../../engine/script/script.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { ENDLESS, ESCAPED, JS_VARIANTS, JavaScriptMaker, TbelMaker } from './programs.ts'

/** Messages that each generated text runs with. */
const RUNS_A_SCRIPT = { TBEL: 4, JS: JS_VARIANTS } as const
const SCRIPTS_UNDER_WAY = 16
/** One endless script among so many. */
const ENDLESS_ONE_IN = 1000
export const LIMIT_MS = 100
/** A run may take its limit and so much more. */
const GRACE_MS = 50
const TENANTS = 5

export interface LanguageReport {
  scripts: number
  runs: number
  /** Runs that ended in an error of the script, and scripts that were refused. */
  failed: number
  refused: number
  /** Endless scripts, and the longest time until one was stopped, ms. */
  endless: number
  slowestStopMs: number
  findings: string[]
}

export interface CampaignReport {
  readonly TBEL: LanguageReport
  readonly JS: LanguageReport
}

export function emptyReport(): LanguageReport {
  return { scripts: 0, runs: 0, failed: 0, refused: 0, endless: 0, slowestStopMs: 0, findings: [] }
}

const DATA = '{"a":7,"list":[1,2,3],"text":"abc","o":{"x":1}}'
const MESSAGES = Array.from({ length: JS_VARIANTS }, (_, index) =>
  scriptMessage(DATA.replace('7', String(index)), { name: 'n' }),
)
const UNTOUCHED = MESSAGES.map((message) => JSON.stringify(message.json()))

/** Traces of this process in what a script is told. */
const TRACES = /node:internal|engine\/script|\/node_modules\/|\.ts:\d/

export function look(report: LanguageReport, body: string, text: string): void {
  if (text.includes(ESCAPED)) report.findings.push(`${text.slice(0, 200)}: ${body}`)
  if (TRACES.test(text)) report.findings.push(`names the host: ${text.slice(0, 300)}: ${body}`)
}

/** What no script may have changed here. */
function lookAround(report: LanguageReport, body: string): void {
  if (Reflect.ownKeys(Object.prototype).length !== OBJECT_KEYS || 'escaped' in globalThis || 'escaped' in {})
    report.findings.push(`changed the engine's own objects: ${body}`)
  MESSAGES.forEach((message, index) => {
    if (JSON.stringify(message.json()) !== UNTOUCHED[index]) report.findings.push(`changed a message: ${body}`)
  })
}

const OBJECT_KEYS = Reflect.ownKeys(Object.prototype).length

/** `runs` shared out evenly to the languages, fewer where `seconds` end first. */
export async function runCampaign(
  runs: number,
  random: SeededRandom,
  tell: (text: string) => void,
  seconds = Infinity,
  languages: readonly ScriptLanguage[] = ['TBEL', 'JS'],
): Promise<CampaignReport> {
  const workers = createJavaScriptWorkers({
    ...{ clock: systemClock, threads: 2, memoryLimitMb: 16, timeoutMs: LIMIT_MS, queueBound: 100_000 },
  })
  const host = createScriptHost({
    ...{ clock: systemClock, random: systemRandom, tbel: { timeoutMs: LIMIT_MS } },
    javaScript: (source) => workers.compile(source),
  })
  const compile: Compile = async (language, body, tenantId) =>
    host.compile({ language, kind: 'json', body, tenantId, ownerId: 'node' })
  const report = { TBEL: emptyReport(), JS: emptyReport() }
  try {
    const perLanguage = Math.ceil(runs / languages.length)
    const began = performance.now()
    for (const [index, language] of languages.entries()) {
      const maker = language === 'TBEL' ? new TbelMaker(random) : new JavaScriptMaker(random)
      const end = began + (seconds * 1000 * (index + 1)) / languages.length
      await runLanguage(language, perLanguage, maker, compile, random, report[language], tell, end)
    }
    return report
  } finally {
    await workers.close()
  }
}

type Compile = (language: ScriptLanguage, body: string, tenantId: string) => Promise<CompiledScript<'json'>>

async function runLanguage(
  language: ScriptLanguage,
  runs: number,
  maker: { program(): string },
  compile: Compile,
  random: SeededRandom,
  report: LanguageReport,
  tell: (text: string) => void,
  deadline: number,
): Promise<void> {
  let told = 0
  const lane = async (index: number): Promise<void> => {
    while (report.runs < runs && performance.now() < deadline) {
      await runOne(
        language,
        maker.program(),
        `tenant ${index % TENANTS}`,
        compile,
        report,
        MESSAGES.slice(0, RUNS_A_SCRIPT[language]),
      )
      if (report.runs - told < 20_000) continue
      told = report.runs
      tell(`${language}: ${report.runs} of ${runs} runs, ${report.findings.length} findings`)
    }
  }
  // The expression language runs inline: one at a time is all there is.
  await Promise.all(Array.from({ length: language === 'TBEL' ? 1 : SCRIPTS_UNDER_WAY }, (_, index) => lane(index)))
  const endless = Math.max(3, Math.floor(report.scripts / ENDLESS_ONE_IN))
  for (let index = 0; index < endless; index++)
    await runEndless(language, random.pick(ENDLESS[language]), compile, report)
}

async function runOne(
  language: ScriptLanguage,
  body: string,
  tenantId: string,
  compile: Compile,
  report: LanguageReport,
  messages: readonly Message[],
): Promise<void> {
  report.scripts++
  try {
    const script = await compile(language, body, tenantId)
    const outcomes = await outcomesOf(script, messages)
    script.close()
    if (outcomes.length !== messages.length) report.findings.push(`${outcomes.length} outcomes: ${body}`)
    for (const outcome of outcomes) look(report, body, outcome)
    report.failed += outcomes.filter((outcome) => !/^["[{\d-]|^(?:true|false|null)$/.test(outcome)).length
  } catch (error) {
    // A script that is refused was tried all the same, once a message.
    if (!isMillraceError(error)) report.findings.push(`not an error of the script, ${String(error)}: ${body}`)
    else look(report, body, error.message)
    report.refused++
  }
  report.runs += messages.length
  if (language === 'TBEL') lookAround(report, body)
}

/** One message alone: from the call to the answer it may take the limit and the grace. */
async function runEndless(
  language: ScriptLanguage,
  body: string,
  compile: Compile,
  report: LanguageReport,
): Promise<void> {
  const script = await compile(language, body, `endless ${report.endless}`)
  const began = performance.now()
  const [outcome = ''] = await outcomesOf(script, MESSAGES.slice(0, 1))
  const took = performance.now() - began
  script.close()
  report.endless++
  report.slowestStopMs = Math.max(report.slowestStopMs, took)
  if (!/stopped|nested deeper|memory/.test(outcome) && !body.includes('(a+)+$'))
    report.findings.push(`was not stopped, ${outcome.slice(0, 100)}: ${body}`)
  if (took > LIMIT_MS + GRACE_MS) report.findings.push(`took ${took.toFixed(0)} ms of ${LIMIT_MS}: ${body}`)
}
