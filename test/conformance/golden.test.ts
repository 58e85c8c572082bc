/**
 * Replays the request and answer pairs recorded from a real ThingsBoard against this server, by their own runner. The
 * recordings are no part of the project: without them this is a printed skip.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DEMO_CUSTOMER, DEMO_TENANT } from '../support/clients.ts'
import { PROJECT_ROOT, startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { DELIBERATE_DIFFERENCES, MAX_DIFFERENCES } from './deliberate-differences.ts'

const FOLDER = join('..', 'shared', 'golden')
const CASES = join(PROJECT_ROOT, FOLDER, 'cases')

/** Places in the scenario of what is built so far. */
const BUILT: readonly (readonly [first: number, last: number])[] = [
  [1, 115],
  [124, 142],
  [180, 193],
  [211, 217],
  [259, 265],
]

/** The scenario waits for much that is not built yet. */
const SCENARIO_MS = 300_000

/** Names of the recorded cases that must match. */
function casesOfWhatIsBuilt(): readonly string[] {
  return readdirSync(CASES)
    .filter((file) => /^\d{3}-.*\.json$/.test(file))
    .filter((file) =>
      BUILT.some(([first, last]) => Number(file.slice(0, 3)) >= first && Number(file.slice(0, 3)) <= last),
    )
    .map((file) => file.slice(4, -'.json'.length))
}

/**
 * What a program run in the project's folder wrote. Into a file, since this one ends without waiting for a pipe to be read;
 * from this folder, since it looks up its packages there. It exits 1 for the cases that are not built yet.
 */
async function run(argv: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-golden-'))
  const file = await open(join(folder, 'output'), 'w+')
  try {
    const child = spawn(process.execPath, argv, { cwd: PROJECT_ROOT, stdio: ['ignore', file.fd, file.fd] })
    await once(child, 'exit')
    return await readFile(join(folder, 'output'), 'utf8')
  } finally {
    await file.close()
    await rm(folder, { recursive: true })
  }
}

/** Name of each failed case to what differs; plays the whole scenario, since later cases need what earlier ones made. */
async function replay(millrace: RunningMillrace): Promise<ReadonlyMap<string, string>> {
  const script = join(FOLDER, 'golden.mjs')
  const options = [
    '--base',
    millrace.url,
    '--mqtt',
    `127.0.0.1:${millrace.ports['mqtt'] ?? 0}`,
    '--golden',
    join(FOLDER, 'cases'),
  ]
  const users = ['--user', DEMO_TENANT.username, '--pass', DEMO_TENANT.password]
  const customers = ['--customer-user', DEMO_CUSTOMER.username, '--customer-pass', DEMO_CUSTOMER.password]
  const output = await run([script, 'check', ...options, ...users, ...customers])
  const summary = /^(\d+) passed, (\d+) failed$/m.exec(output)
  assert.ok(
    summary,
    `the runner gave no summary:\n${output.slice(-4000)}\nThe server's log:\n${millrace.log().slice(-4000)}`,
  )
  assert.doesNotMatch(output, /scenario stopped/)
  const failures = new Map<string, string>()
  for (const block of output.split(/^FAIL /m).slice(1)) {
    const [name = '', ...lines] = block.split('\n')
    failures.set(name, lines.filter((line) => line.startsWith('      ')).join('\n'))
  }
  assert.equal(failures.size, Number(summary[2]))
  return failures
}

const skip = existsSync(CASES) ? false : 'the recorded cases are not beside this checkout'

test('the recorded cases match, but for the listed differences', { skip, timeout: SCENARIO_MS }, async () => {
  assert.ok(Object.keys(DELIBERATE_DIFFERENCES).length <= MAX_DIFFERENCES)
  const wanted = casesOfWhatIsBuilt()
  assert.ok(wanted.length > 100, `only ${wanted.length} cases were found`)
  const millrace = await startMillrace()
  try {
    const failures = await replay(millrace)
    const unexpected = wanted.filter((name) => failures.has(name) && !(name in DELIBERATE_DIFFERENCES))
    assert.deepEqual(
      unexpected.map((name) => `${name}\n${failures.get(name) ?? ''}`),
      [],
    )
    const matching = Object.keys(DELIBERATE_DIFFERENCES).filter((name) => !failures.has(name))
    assert.deepEqual(matching, [], 'listed as different, but the same')
  } finally {
    await millrace.stop()
  }
})
