/**
 * Replays the cases recorded from a real ThingsBoard's device APIs (CoAP, MQTT, HTTP) against this server, by their own runner. The
 * recordings are no part of the project: without them this is a printed skip.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DEMO_TENANT } from '../support/clients.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { PROJECT_ROOT, startMillrace } from '../support/start-millrace.ts'
import type { DeliberateDifference } from './golden-answers.ts'
import { caseFindings, readCases, type CaseReplay } from './golden-cases.ts'
import { DEVICE_DIFFERENCES, MAX_SHARE, NOT_BUILT } from './golden-devices-differences.ts'

const FOLDER = join('..', 'shared', 'golden-devices')
const CASES = join(PROJECT_ROOT, FOLDER, 'cases')
const skip = existsSync(CASES) ? false : 'the recorded cases are not beside this checkout'

const PACES: CaseReplay['paces'] = {
  quick: ['--jobs', '12', '--settle', '200', '--wait', String(5000 * SLOWNESS)],
  calm: ['--jobs', '3', '--settle', '600', '--wait', String(5000 * SLOWNESS)],
  short: ['--jobs', '12', '--settle', '200', '--wait', '1000'],
}
const WRONG_CODE: CaseReplay['plant'] = { in: 'coap-telemetry-object-default', path: ['0', 'code'], value: '2.04' }

test('the recorded cases of devices match, but for the listed paths', { skip, timeout: 600_000 }, async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-golden-devices-'))
  context.after(() => rm(folder, { recursive: true }))
  const cases = readCases(CASES)
  assert.ok(cases.length > 120, `only ${cases.length} cases were found`)
  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  const { url, ports } = millrace
  const user = ['--user', DEMO_TENANT.username, '--pass', DEMO_TENANT.password]
  const devices = ['--mqtt', `127.0.0.1:${ports['mqtt']}`, '--coap', `127.0.0.1:${ports['coap']}`]
  const runner = [join(FOLDER, 'devices.mjs'), 'check', '--base', url, ...devices, ...user]
  const answers = cases.flatMap(({ expected }) => Object.keys(expected)).length
  const differing = Object.values(DEVICE_DIFFERENCES).flatMap(differingAnswers).length
  assert.ok(differing <= answers * MAX_SHARE, `${differing} of ${answers} answers are listed as different`)
  context.diagnostic(
    `${cases.length} cases of ${answers} answers, ${differing} differ on purpose, ${NOT_BUILT.size} cases are not built`,
  )
  const replay = {
    cases,
    differences: DEVICE_DIFFERENCES,
    notBuilt: NOT_BUILT,
    plant: WRONG_CODE,
    runner,
    folder,
    paces: PACES,
  }
  assert.deepEqual(await caseFindings(replay), [])
})

/** Their places in the case. */
function differingAnswers({ answers }: DeliberateDifference): readonly string[] {
  return [...new Set(Object.keys(answers).map((path) => path.split('.')[0] ?? ''))]
}
