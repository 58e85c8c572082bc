/**
 * Replays the cases recorded from a real ThingsBoard's rule nodes, chains and scripts against this server, by their own runner, which
 * compares every debug event, reply and effect. The recordings are no part of the project: without them this is a printed skip.
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
import { caseFindings, readCases, type CaseReplay } from './golden-cases.ts'
import { MAX_SHARE, NODE_DIFFERENCES, NOT_BUILT } from './golden-nodes-differences.ts'

const FOLDER = join('..', 'shared', 'golden-nodes')
const CASES = join(PROJECT_ROOT, FOLDER, 'cases')
const skip = existsSync(CASES) ? false : 'the recorded cases are not beside this checkout'

/** Cases at a time, and the pauses around saving a chain: an answered save is deployed here. */
const PACES: CaseReplay['paces'] = {
  quick: ['--jobs', '12', '--settle', '60', '--wait', String(4000 * SLOWNESS)],
  calm: ['--jobs', '4', '--settle', '350', '--wait', String(4000 * SLOWNESS)],
  short: ['--jobs', '16', '--settle', '60', '--wait', '800'],
}
const WRONG_RELATION: CaseReplay['plant'] = {
  in: 'filter-script-tbel-null-safe',
  path: ['steps', '0', 'T', '1', 'relation'],
  value: 'Planted',
}

test(
  'the recorded cases of rule nodes match, but for the listed paths',
  { skip, timeout: 600_000 },
  async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-golden-nodes-'))
    context.after(() => rm(folder, { recursive: true }))
    const cases = readCases(CASES)
    assert.ok(cases.length > 350, `only ${cases.length} cases were found`)
    const differing = Object.keys(NODE_DIFFERENCES).length
    assert.ok(differing <= cases.length * MAX_SHARE, `${differing} of ${cases.length} are listed as different`)
    const millrace = await startMillrace()
    context.after(() => millrace.stop())
    const user = ['--user', DEMO_TENANT.username, '--pass', DEMO_TENANT.password]
    const runner = [join(FOLDER, 'nodes.mjs'), 'check', '--base', millrace.url, ...user]
    context.diagnostic(`${cases.length} cases, ${differing} differ on purpose, ${NOT_BUILT.size} are not built`)
    const replay = {
      cases,
      differences: NODE_DIFFERENCES,
      notBuilt: NOT_BUILT,
      plant: WRONG_RELATION,
      runner,
      folder,
      paces: PACES,
    }
    assert.deepEqual(await caseFindings(replay), [])
  },
)
