/**
 * `npm test`: the checks, then the tests beside the code, then the whole-system tests, those of answers first. Every stage runs,
 * whatever failed before it; the exit code is 1 where any did. `npm test -- engine/link` runs only the tests whose path holds that
 * text, without the checks.
 *
 * What needs a tool that is absent is a printed skip, and with REQUIRE_REAL=1 a failure: the tests themselves see to that.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { z } from 'zod'

const root = resolve(import.meta.dirname, '..')
const filters = process.argv.slice(2)
const durations: string[] = []
const counts = { pass: 0, fail: 0, skipped: 0 }
const failures: string[] = []
/** Of each test that failed: its name, where it stands, what it threw. */
const accounts: string[] = []
const ACCOUNT_LINES = 40
// Its own: more than one run may go on in one working copy.
const tally = join(root, '.cache', `tests-${process.pid}.tap`)

const found = globSync('**/*.test.ts', {
  cwd: root,
  exclude: (name) => ['node_modules', '.tools', '.cache', 'ui'].includes(name),
})
const files = found.filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter))).sort()
const beside = files.filter((file) => !file.startsWith('test/'))
const whole = files.filter((file) => file.startsWith('test/'))
// What is asked about answers waits more than it computes; what is asked about rates, times and memory runs alone.
const ofAnswers = whole.filter(
  (file) => /^test\/(browser|conformance|security|upgrade)\//.test(file) && !file.includes('idle-memory'),
)
const ofRates = whole.filter((file) =>
  /(idle-memory|floor|noisy-fleet|noisy-tenant|noisy-tenant-nodes|noisy-tenant-parking|slow-tenant|stalled-store|stop)\.test\.ts$/.test(
    file,
  ),
)
// What is asked whether anything was lost, doubled or out of order has the same answer on a busy machine.
const ofFaults = whole.filter((file) => !ofAnswers.includes(file) && !ofRates.includes(file))

const installing = filters.length === 0 ? install() : undefined
if (filters.length === 0) {
  // One thread each: side by side they take as long as the longest.
  await Promise.all([
    stage('lint', ['node_modules/eslint/bin/eslint.js', '--cache', '--cache-location', '.cache/eslint', '.']),
    (async () => {
      await stage('types', ['node_modules/typescript/bin/tsc', '-p', '.'])
      await stage('types of the pages', ['node_modules/typescript/bin/tsc', '-p', 'api/console/browser'])
      await stage('format', ['node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'])
    })(),
  ])
}
// More lanes than two cores: what starts servers, kills and waits for expiries leaves them idle.
await stage('tests beside the code', testArguments(beside, 3))
await stage('whole-system tests of answers', testArguments(ofAnswers, 3))
await stage('whole-system tests of faults', testArguments(ofFaults, 4))
// They start processes of their own: one file at a time, so that two cores measure one thing.
await stage('whole-system tests of rates and times', testArguments(ofRates, 1))
// Once more at the end, where thousands of lines do not hide it.
process.stdout.write(accounts.map((account) => `\n${account}\n`).join(''))
process.stdout.write(`\n${[...durations, ...failures].join('\n')}\n\n`)
// Of the stages that are no tests, each that failed counts as one.
process.stdout.write(`${counts.pass} passed, ${counts.fail} failed, ${counts.skipped} skipped\n`)
process.exitCode = failures.length === 0 ? 0 : 1
// Where the network does not answer it would wait for hours, for nobody.
installing?.kill()

/** What tests drive. It waits for the network, and ends long before the tests do. */
function install(): ChildProcess {
  const program = join('test', 'support', 'install-all.ts')
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], { cwd: root, stdio: 'inherit' })
}

function testArguments(names: readonly string[], concurrency: number): string[] | undefined {
  if (names.length === 0) return undefined
  const options = [
    '--disable-warning=ExperimentalWarning',
    // Node's own stripping compiles its compiler in each process and thread, and strips the same files in each.
    '--import',
    join(root, 'compose', 'stripped-types.mjs'),
    '--test',
    `--test-concurrency=${concurrency}`,
  ]
  const reporters = [
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=tap',
    `--test-reporter-destination=${tally}`,
  ]
  // Of a whole file too: the longest has taken nine minutes on a machine that did other things.
  return [...options, ...reporters, '--test-timeout=1200000', ...names]
}

/** Adds what the last stage's tests came to; false where it left no sums: it ended before its end. */
function count(): boolean {
  if (!existsSync(tally)) return false
  const text = readFileSync(tally, 'utf8')
  rmSync(tally)
  // A test that failed has a block of YAML behind its line (TAP 14); one with tests inside says nothing of its own.
  for (const [, line = '', block = ''] of text.matchAll(/^ *(not ok .*)\n((?:(?! *\.\.\.$).*\n)*)/gm)) {
    if (!block.includes('subtestsFailed'))
      accounts.push([line, ...block.split('\n').slice(0, ACCOUNT_LINES)].join('\n'))
  }
  for (const name of Object.keys(counts) as (keyof typeof counts)[]) {
    const sum = new RegExp(`^# ${name} (\\d+)$`, 'm').exec(text)?.[1]
    if (sum === undefined) return false
    counts[name] += Number(sum)
  }
  return true
}

/** Its output comes as it is written: where stages go side by side, their lines mix. */
async function stage(name: string, commandLine: readonly string[] | undefined): Promise<void> {
  if (commandLine === undefined) return
  process.stdout.write(`\n${name}\n`)
  mkdirSync(join(root, '.cache'), { recursive: true })
  const began = performance.now()
  const failedBefore = counts.fail
  const child = spawn(process.execPath, commandLine, {
    cwd: root,
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: join(root, '.cache', 'compile-tests'), ...process.env },
  })
  const [status, signal] = z.tuple([z.number().nullable(), z.string().nullable()]).parse(await once(child, 'exit'))
  durations.push(`${name}: ${((performance.now() - began) / 1000).toFixed(1)} s`)
  const isOfTests = commandLine.includes('--test')
  const hasCounted = isOfTests && count()
  if (status === 0 && (hasCounted || !isOfTests)) return
  if (!isOfTests || counts.fail === failedBefore) counts.fail++
  const failure = `${name} failed (${status ?? signal}) in ${relative(process.cwd(), root) || '.'}`
  failures.push(failure)
  process.stdout.write(`\n${failure}\n`)
}
