/** Each planted bug still has the code that it replaces: seen here in no time, before the slow test that plants it. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PROJECT_ROOT } from '../start-millrace.ts'
import { FORMER_LOG, OWNER_BUG, PACK_BUGS, PARKING_BUG, PLANTED_BUGS, SIMULATION_BUGS } from './bugs.ts'

const SINGLE = [PARKING_BUG, FORMER_LOG, OWNER_BUG]

for (const { name, file, code } of [...PLANTED_BUGS, ...PACK_BUGS, ...SINGLE, ...SIMULATION_BUGS]) {
  test(`"${name}" can be planted in ${file}`, () => {
    const source = readFileSync(join(PROJECT_ROOT, file), 'utf8')
    assert.equal(source.split(code).length, 2, 'production code has changed: plant it anew in bugs.ts')
  })
}
