/**
 * Replays the cases recorded from a real ThingsBoard's device APIs (CoAP, MQTT, HTTP) against this server, by their own runner. The
 * recordings are no part of the project: without them this is a printed skip.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DEMO_TENANT } from '../support/clients.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { PROJECT_ROOT, startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { readCases, replaceAt, withDifferences, type Case } from './golden-cases.ts'
import { DEVICE_DIFFERENCES, NOT_BUILT } from './golden-devices-differences.ts'
import { runInProject } from './golden-runner.ts'

const FOLDER = join('..', 'shared', 'golden-devices')
const CASES = join(PROJECT_ROOT, FOLDER, 'cases')
const skip = existsSync(CASES) ? false : 'the recorded cases are not beside this checkout'

const QUICK = ['--jobs', '12', '--settle', '200', '--wait', String(5000 * SLOWNESS)]
/** For what failed beside eleven others. */
const CALM = ['--jobs', '3', '--settle', '600', '--wait', String(5000 * SLOWNESS)]
/** For what is not built: each waits in vain. */
const SHORT = ['--jobs', '12', '--settle', '200', '--wait', '1000']
/** A copy of a case that passes, with a wrong expectation: it must fail. */
const PLANTED = 'planted-wrong-code'
const PLANTED_IN = 'coap-telemetry-object-default'

test('the recorded cases of devices match, but for the listed paths', { skip, timeout: 600_000 }, async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-golden-devices-'))
  context.after(() => rm(folder, { recursive: true }))
  const cases = readCases(CASES)
  assert.ok(cases.length > 120, `only ${cases.length} cases were found`)
  const findings: string[] = []
  const given = cases.map((recorded) => withDifferences(recorded, DEVICE_DIFFERENCES[recorded.name], findings))
  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  const built = given.filter(({ name }) => !NOT_BUILT.has(name))
  const wanting = given.filter(({ name }) => NOT_BUILT.has(name))
  const first = await replay(millrace, join(folder, 'built'), [...built, plantedIn(cases)], QUICK)
  const absent = await replay(millrace, join(folder, 'wanting'), wanting, SHORT)
  const again = built.filter(({ name }) => first.has(name))
  for (const [name, difference] of await replay(millrace, join(folder, 'again'), again, CALM))
    findings.push(`${name}: ${difference}`)
  if (!first.has(PLANTED)) findings.push('a wrong code that was planted stays unseen')
  for (const name of NOT_BUILT.keys()) if (!absent.has(name)) findings.push(`${name}: listed as not built, and passes`)
  const names = new Set(cases.map(({ name }) => name))
  const listed = [...NOT_BUILT.keys(), ...Object.keys(DEVICE_DIFFERENCES)]
  findings.push(...listed.filter((name) => !names.has(name)).map((name) => `${name}: no case`))
  context.diagnostic(
    `${cases.length} cases, ${Object.keys(DEVICE_DIFFERENCES).length} differ on purpose, ${NOT_BUILT.size} are not built`,
  )
  assert.deepEqual(findings, [])
})

/** Case to the first place where it fails. */
async function replay(
  { url, ports }: RunningMillrace,
  folder: string,
  cases: readonly Case[],
  pace: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (cases.length === 0) return new Map()
  await mkdir(folder)
  for (const each of cases) await writeFile(join(folder, `${each.name}.json`), JSON.stringify(each))
  const tenant = ['--user', DEMO_TENANT.username, '--pass', DEMO_TENANT.password]
  const devices = ['--mqtt', `127.0.0.1:${ports['mqtt']}`, '--coap', `127.0.0.1:${ports['coap']}`]
  const server = ['--base', url, ...devices, '--cases', folder]
  const output = await runInProject([join(FOLDER, 'devices.mjs'), 'check', ...server, ...tenant, ...pace])
  assert.match(output, /^\d+ passed, \d+ failed$/m, `the runner did not end:\n${output.slice(-4000)}`)
  return new Map([...output.matchAll(/^FAIL ([^:]+): (.*)$/gm)].map(([, name = '', text = '']) => [name, text]))
}

function plantedIn(cases: readonly Case[]): Case {
  const original = cases.find(({ name }) => name === PLANTED_IN)
  assert.ok(original, `no case ${PLANTED_IN}`)
  const planted = { ...structuredClone(original), name: PLANTED }
  assert.ok(replaceAt(planted.expected, ['0', 'code'], '2.04'))
  return planted
}
