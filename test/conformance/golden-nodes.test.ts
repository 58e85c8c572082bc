/**
 * Replays the cases recorded from a real ThingsBoard's rule nodes, chains and scripts against this server, by their own runner, which
 * compares every debug event, reply and effect. The recordings are no part of the project: without them this is a printed skip.
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
import { MAX_SHARE, NODE_DIFFERENCES, NOT_BUILT } from './golden-nodes-differences.ts'
import { runInProject } from './golden-runner.ts'

const FOLDER = join('..', 'shared', 'golden-nodes')
const CASES = join(PROJECT_ROOT, FOLDER, 'cases')
const skip = existsSync(CASES) ? false : 'the recorded cases are not beside this checkout'

/** Cases at a time, and the pauses around saving a chain: an answered save is deployed here. */
const QUICK = ['--jobs', '12', '--settle', '60', '--wait', String(4000 * SLOWNESS)]
/** For what failed beside eleven others. */
const CALM = ['--jobs', '4', '--settle', '350', '--wait', String(4000 * SLOWNESS)]
/** For what is not built: each waits in vain for its events. */
const SHORT = ['--jobs', '16', '--settle', '60', '--wait', '800']
/** A copy of a case that passes, with a wrong expectation: it must fail. */
const PLANTED = 'planted-wrong-relation'
const PLANTED_IN = 'filter-script-tbel-null-safe'

test(
  'the recorded cases of rule nodes match, but for the listed paths',
  { skip, timeout: 600_000 },
  async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-golden-nodes-'))
    context.after(() => rm(folder, { recursive: true }))
    const cases = readCases(CASES)
    assert.ok(cases.length > 350, `only ${cases.length} cases were found`)
    const findings: string[] = []
    const given = cases.map((recorded) => withDifferences(recorded, NODE_DIFFERENCES[recorded.name], findings))
    const millrace = await startMillrace()
    context.after(() => millrace.stop())
    const built = given.filter(({ name }) => !NOT_BUILT.has(name))
    const wanting = given.filter(({ name }) => NOT_BUILT.has(name))
    const first = await replay(millrace, join(folder, 'built'), [...built, plantedIn(cases)], QUICK)
    const absent = await replay(millrace, join(folder, 'wanting'), wanting, SHORT)
    const again = built.filter(({ name }) => first.has(name))
    const failed = await replay(millrace, join(folder, 'again'), again, CALM)
    for (const [name, difference] of failed) findings.push(`${name}: ${difference}`)
    if (!first.has(PLANTED)) findings.push('a wrong relation that was planted stays unseen')
    for (const name of NOT_BUILT.keys())
      if (!absent.has(name)) findings.push(`${name}: listed as not built, and passes`)
    const names = new Set(cases.map(({ name }) => name))
    const listed = Object.keys(NODE_DIFFERENCES)
    findings.push(
      ...[...NOT_BUILT.keys(), ...listed].filter((name) => !names.has(name)).map((name) => `${name}: no case`),
    )
    assert.ok(listed.length <= cases.length * MAX_SHARE, `${listed.length} of ${cases.length} are listed as different`)
    context.diagnostic(`${cases.length} cases, ${listed.length} differ on purpose, ${NOT_BUILT.size} are not built`)
    assert.deepEqual(findings, [])
  },
)

/** Case to the first place where it fails. */
async function replay(
  { url }: RunningMillrace,
  folder: string,
  cases: readonly Case[],
  pace: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (cases.length === 0) return new Map()
  await mkdir(folder)
  for (const each of cases) await writeFile(join(folder, `${each.name}.json`), JSON.stringify(each))
  const tenant = ['--user', DEMO_TENANT.username, '--pass', DEMO_TENANT.password]
  const server = ['--base', url, '--cases', folder]
  const output = await runInProject([join(FOLDER, 'nodes.mjs'), 'check', ...server, ...tenant, ...pace])
  assert.match(output, /^\d+ passed, \d+ failed$/m, `the runner did not end:\n${output.slice(-4000)}`)
  return new Map([...output.matchAll(/^FAIL ([^:]+): (.*)$/gm)].map(([, name = '', text = '']) => [name, text]))
}

function plantedIn(cases: readonly Case[]): Case {
  const original = cases.find(({ name }) => name === PLANTED_IN)
  assert.ok(original, `no case ${PLANTED_IN}`)
  const planted = { ...structuredClone(original), name: PLANTED }
  assert.ok(replaceAt(planted.expected, ['steps', '0', 'T', '1', 'relation'], 'Planted'))
  return planted
}
