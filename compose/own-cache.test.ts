/** Root runs no code that another user may have put into a cache. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { mayRunFrom } from './own-cache.mjs'

const SERVICE = 10_001
const roots = { uid: 0, gid: 0, mode: 0o40755 }
const services = { uid: SERVICE, gid: SERVICE, mode: 0o40700 }

test('root takes code from what root alone can write, or what is not there yet', () => {
  for (const [stats, mayRun] of [
    [roots, true],
    [undefined, true],
    [{ ...roots, mode: 0o40775 }, true],
    [services, false],
    [{ ...roots, gid: SERVICE, mode: 0o40775 }, false],
    [{ ...roots, mode: 0o40757 }, false],
    [{ ...roots, mode: 0o120777 }, false],
  ] as const) {
    assert.equal(
      mayRunFrom(['cache'], 0, () => stats),
      mayRun,
      JSON.stringify(stats),
    )
  }
  assert.equal(
    mayRunFrom(['cache', 'cache/of the service'], 0, (path) => (path === 'cache' ? roots : services)),
    false,
  )
})

test('another user takes it from wherever it can read', () => {
  assert.equal(
    mayRunFrom(['cache'], SERVICE, () => services),
    true,
  )
})

const SOURCE = `const said: string = 'what the source says'\nconsole.log(said)\n`
const NEEDS_ROOT = { skip: process.getuid?.() === 0 ? false : 'needs to be root' }

const FROM_CACHE = "console.log('what the cache says')"

interface Program {
  readonly folder: string
  readonly cache: string
  /** What stands in the cache for the program's source. */
  readonly file: string
  readonly says: () => string
}

/** Its cache says something else than its source. */
function cached(): Program {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-cache-'))
  mkdirSync(join(folder, 'compose'))
  for (const name of ['stripped-types.mjs', 'own-cache.mjs']) {
    copyFileSync(join(import.meta.dirname, name), join(folder, 'compose', name))
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const program = join(folder, 'program.ts')
  writeFileSync(program, SOURCE)
  const cache = join(folder, '.cache')
  const stripped = join(cache, 'stripped', process.version)
  mkdirSync(stripped, { recursive: true, mode: 0o755 })
  const file = join(stripped, `${createHash('sha256').update(SOURCE).digest('hex')}.js`)
  writeFileSync(file, FROM_CACHE)
  const argv = [
    '--disable-warning=ExperimentalWarning',
    '--import',
    join(folder, 'compose', 'stripped-types.mjs'),
    program,
  ]
  const says = (): string => {
    const { stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' })
    return stdout.trim() || stderr
  }
  return { folder, cache, file, says }
}

test('a program runs what its cache says', (context) => {
  const { folder, says } = cached()
  context.after(() => rmSync(folder, { recursive: true }))
  assert.equal(says(), 'what the cache says')
})

/** What is another's, and whether the file stays as it is: root puts its own in the place of a file in its own folder. */
const SPOILT = [
  ['the cache is the service’s', ({ cache }) => chownSync(cache, SERVICE, SERVICE), true],
  ['a folder in it is', ({ cache }) => chownSync(join(cache, 'stripped'), SERVICE, SERVICE), true],
  ['everybody may write there', ({ cache }) => chmodSync(join(cache, 'stripped', process.version), 0o777), true],
  ['the file is the service’s', ({ file }) => chownSync(file, SERVICE, SERVICE), false],
] as const satisfies readonly (readonly [what: string, spoil: (program: Program) => void, isLeft: boolean])[]

for (const [what, spoil, isLeft] of SPOILT) {
  test(`root runs nothing of a cache, and writes nothing to it, where ${what}`, NEEDS_ROOT, (context) => {
    const program = cached()
    context.after(() => rmSync(program.folder, { recursive: true }))
    spoil(program)
    assert.equal(program.says(), 'what the source says')
    assert.equal(readFileSync(program.file, 'utf8') === FROM_CACHE, isLeft)
  })
}
