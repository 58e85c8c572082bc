/**
 * Replays the request and answer pairs recorded from a real ThingsBoard against this server, by their own runner, and compares
 * every path of every answer. The recordings are no part of the project: without them this is a printed skip.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DEMO_CUSTOMER, DEMO_TENANT } from '../support/clients.ts'
import { PROJECT_ROOT, startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { DELIBERATE_DIFFERENCES, MAX_DIFFERENCES } from './deliberate-differences.ts'
import { runInProject } from './golden-runner.ts'
import { differencesOf, findingsOf, plantedIn } from './golden-answers.ts'
import { assertNoneTwice, recordedFiles } from './recorded-files.ts'

const FOLDER = join('..', 'shared', 'golden')
const CASES = join(PROJECT_ROOT, FOLDER, 'cases')

const SCENARIO_MS = 600_000
/** `012-device-create.json`: its place in the scenario, and its name. */
const NUMBERED = /^\d{3}-.*\.json$/

/** The name of each case to what this server answered; plays the whole scenario, since later cases need what earlier ones made. */
async function replay(millrace: RunningMillrace, answers: string): Promise<ReadonlyMap<string, object>> {
  const script = join(FOLDER, 'golden.mjs')
  const server = ['--base', millrace.url, '--mqtt', `127.0.0.1:${millrace.ports['mqtt'] ?? 0}`]
  const folders = ['--golden', join(FOLDER, 'cases'), '--out', answers]
  const users = ['--user', DEMO_TENANT.username, '--pass', DEMO_TENANT.password]
  const customers = ['--customer-user', DEMO_CUSTOMER.username, '--customer-pass', DEMO_CUSTOMER.password]
  const output = await runInProject([script, 'check', ...server, ...folders, ...users, ...customers])
  assert.ok(
    /^\d+ passed, \d+ failed$/m.test(output) && !output.includes('scenario stopped'),
    `the runner did not end:\n${output.slice(-4000)}\nThe server's log:\n${millrace.log().slice(-4000)}`,
  )
  return new Map(
    readdirSync(answers).map((file) => [file.slice(4, -'.json'.length), readResponse(join(answers, file))]),
  )
}

/** Written by the runner: its shape is known. */
function readResponse(file: string): object {
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly response: object }).response
}

/** The demo tenant of the recorded installation logs in by another name. */
function asHere(recorded: object): object {
  return JSON.parse(JSON.stringify(recorded).replaceAll('tenant@thingsboard.org', DEMO_TENANT.username)) as object
}

const skip = existsSync(CASES) ? false : 'the recorded cases are not beside this checkout'

test('the recorded cases match, but for the listed paths', { skip, timeout: SCENARIO_MS }, async (context) => {
  assert.ok(Object.keys(DELIBERATE_DIFFERENCES).length <= MAX_DIFFERENCES)
  const wanted = recordedFiles(CASES, NUMBERED)
  assertNoneTwice(wanted.map(nameOf), CASES)
  assert.ok(wanted.length > 190, `only ${wanted.length} cases were found`)
  const names = new Set(wanted.map(nameOf))
  assert.deepEqual(
    Object.keys(DELIBERATE_DIFFERENCES).filter((name) => !names.has(name)),
    [],
    'listed, but no case',
  )
  const folder = await mkdtemp(join(tmpdir(), 'millrace-golden-'))
  context.after(() => rm(folder, { recursive: true }))
  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  const answers = await replay(millrace, folder)
  const findings: string[] = []
  let planted = 0
  for (const file of wanted) {
    const name = nameOf(file)
    const recorded = asHere(readResponse(join(CASES, file)))
    const answered = answers.get(name)
    const listed = DELIBERATE_DIFFERENCES[name]
    if (answered === undefined) {
      findings.push(`${name}: not run`)
      continue
    }
    findings.push(...findingsOf(differencesOf(recorded, answered), listed).map((text) => `${name}: ${text}`))
    for (const { path, answer } of plantedIn(answered)) {
      planted++
      if (findingsOf(differencesOf(recorded, answer), listed).length === 0)
        findings.push(`${name}: a wrong value planted at ${path} stays unseen`)
    }
  }
  context.diagnostic(`${wanted.length} cases, ${planted} wrong values planted in the answers`)
  assert.deepEqual(findings, [])
})

function nameOf(file: string): string {
  return file.slice(4, -'.json'.length)
}
