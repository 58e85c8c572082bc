/**
 * Replays the scenarios recorded from a real ThingsBoard's resource API against this server, by their own runner, and compares every path
 * of every answer. The recordings are no part of the project: without them this is a printed skip.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DEMO_CUSTOMER, DEMO_SYSADMIN, DEMO_TENANT } from '../support/clients.ts'
import { PROJECT_ROOT, startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { API_DIFFERENCES, MAX_SHARE, NOT_BUILT } from './golden-api-differences.ts'
import { findingsOf, plantedIn } from './golden-answers.ts'
import { runInProject } from './golden-runner.ts'
import { recordedFiles } from './recorded-files.ts'
import { stepDifferences, viewOf, type GoldenStep, type StepAnswer } from './golden-steps.ts'

const FOLDER = join('..', 'shared', 'golden-api')
const SCENARIOS = join(PROJECT_ROOT, FOLDER, 'scenarios')
const skip = existsSync(SCENARIOS) ? false : 'the recorded scenarios are not beside this checkout'

interface Played {
  /** `asset-errors/no-name-400`. */
  readonly name: string
  readonly step: GoldenStep
  readonly answer: StepAnswer
}

test('the recorded API scenarios match, but for the listed paths', { skip, timeout: 600_000 }, async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-golden-api-'))
  context.after(() => rm(folder, { recursive: true }))
  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  const played = await replay(millrace, folder)
  assert.ok(played.length > 800, `only ${played.length} steps were found`)
  const findings: string[] = []
  let planted = 0
  for (const { name, step, answer } of played) {
    const differences = stepDifferences(step, answer)
    if (NOT_BUILT.has(name)) {
      if (differences.length === 0) findings.push(`${name}: listed as not built, and answers as recorded`)
      continue
    }
    const listed = API_DIFFERENCES[name]
    findings.push(...findingsOf(differences, listed).map((text) => `${name}: ${text}`))
    for (const wrong of plantedIn(viewOf(step, answer))) {
      planted++
      if (isUnseen(step, wrong.answer, listed))
        findings.push(`${name}: a wrong value planted at ${wrong.path} stays unseen`)
    }
  }
  const names = new Set(played.map(({ name }) => name))
  const listedNames = [...NOT_BUILT.keys(), ...Object.keys(API_DIFFERENCES)]
  findings.push(...listedNames.filter((name) => !names.has(name)).map((name) => `${name}: listed, but no step`))
  const differing = Object.keys(API_DIFFERENCES).length
  assert.ok(differing <= played.length * MAX_SHARE, `${differing} of ${played.length} steps are listed as different`)
  context.diagnostic(
    `${played.length} steps, ${differing} differ on purpose, ${NOT_BUILT.size} are not built; ${planted} wrong values planted`,
  )
  assert.deepEqual(findings, [])
})

/** What the recording masks or leaves out can not be seen. */
function isUnseen(step: GoldenStep, view: object, listed: (typeof API_DIFFERENCES)[string] | undefined): boolean {
  const { mask = [], orStatus = [], only, rows, compare } = step
  if (mask.length > 0 || orStatus.length > 0 || only !== undefined || rows !== undefined || compare !== undefined)
    return false
  return findingsOf(stepDifferences({ ...step, drop: [] }, { name: step.name, ...view }), listed).length === 0
}

async function replay(millrace: RunningMillrace, answers: string): Promise<readonly Played[]> {
  const server = ['--base', millrace.url, '--scenarios', join(FOLDER, 'scenarios'), '--out', answers]
  const tenant = ['--user', DEMO_TENANT.username, '--pass', DEMO_TENANT.password]
  const customer = ['--customer-user', DEMO_CUSTOMER.username, '--customer-pass', DEMO_CUSTOMER.password]
  const system = ['--sysadmin-user', DEMO_SYSADMIN.username, '--sysadmin-pass', DEMO_SYSADMIN.password]
  const output = await runInProject([join(FOLDER, 'api.mjs'), 'check', ...server, ...tenant, ...customer, ...system])
  assert.match(output, /^\d+ passed, \d+ failed$/m, `the runner did not end:\n${output.slice(-4000)}`)
  return recordedFiles(SCENARIOS, /\.json$/).flatMap((file) => {
    const { steps } = readJson<{ readonly steps: readonly GoldenStep[] }>(join(SCENARIOS, file))
    const given = readJson<readonly StepAnswer[]>(join(answers, file))
    return steps.flatMap((step, index) => {
      const answer = given[index]
      if (step.quiet === true) return []
      assert.equal(answer?.name, step.name, `${file}: not played`)
      assert.ok(step.expect !== undefined, `${file}: nothing is recorded of ${step.name}`)
      return [{ name: `${file.slice(0, -'.json'.length)}/${step.name}`, step, answer }]
    })
  })
}

/** Written by the runner: its shape is known. */
function readJson<Shape>(file: string): Shape {
  return JSON.parse(readFileSync(file, 'utf8')) as Shape
}
