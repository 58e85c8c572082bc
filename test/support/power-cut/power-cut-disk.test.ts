/** The disk of the power-cut test is itself tested: a program that syncs this and not that, and what it finds after the cut. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { seededRandom, type SeededRandom } from '../seeded-random.ts'
import { makePowerCutDisk, type PowerCutDisk } from './power-cut-disk.ts'

/** What the programs below have in scope; `place` is a path on the disk. */
const PRELUDE = `
  import fs from 'node:fs'
  import { open } from 'node:fs/promises'
  import { DatabaseSync } from 'node:sqlite'
  const place = (name) => process.env.POWER_CUT_FOLDER + '/' + name
  const syncFolder = (name = '') => { const file = fs.openSync(place(name)); fs.fsyncSync(file); fs.closeSync(file) }
  const create = (name, text) => {
    const file = fs.openSync(place(name), 'wx+')
    fs.writeSync(file, text, 0)
    fs.fdatasyncSync(file)
    return file
  }
`

test('bytes are there after a cut from their sync on, and no sooner', async (context) => {
  const disk = await diskFor(context)
  if (disk === undefined) return
  await runUntilCut(
    disk,
    `const file = create('data', 'synced')
     syncFolder()
     fs.writeSync(file, 'SYN', 0)
     fs.writeSync(file, ' and more', 6)
     const other = create('parts', '')
     syncFolder()
     fs.writevSync(other, [Buffer.from('one '), Buffer.from('two')], 0)
     fs.fsyncSync(other)
     fs.writeSync(other, ' three')`,
  )
  assert.equal(await contentOf(disk, 'data'), 'synced')
  assert.equal(await contentOf(disk, 'parts'), 'one two')
})

test('a write through a descriptor with O_DSYNC is there after a cut, and no other write with it', async (context) => {
  const disk = await diskFor(context)
  if (disk === undefined) return
  await runUntilCut(
    disk,
    `const file = create('data', '..........')
     syncFolder()
     fs.writeSync(file, 'ab', 0)
     const synced = await open(place('data'), fs.constants.O_WRONLY | fs.constants.O_DSYNC)
     await synced.write('cd', 2)`,
  )
  assert.equal(await contentOf(disk, 'data'), '..cd......')
})

test('a length that was cut is there after a cut of the power from its sync on', async (context) => {
  const disk = await diskFor(context)
  if (disk === undefined) return
  await runUntilCut(
    disk,
    `for (const name of ['synced', 'unsynced']) {
       const file = create(name, '0123456789')
       fs.ftruncateSync(file, 4)
       if (name === 'synced') fs.fdatasyncSync(file)
       else syncFolder()
     }`,
  )
  assert.equal(await contentOf(disk, 'synced'), '0123')
  assert.equal(await contentOf(disk, 'unsynced'), '0123456789')
})

test('names are there, are gone and are others after a cut from the sync of their folder on', async (context) => {
  const disk = await diskFor(context)
  if (disk === undefined) return
  await runUntilCut(
    disk,
    `for (const name of ['kept', 'removed', 'renamed', 'replaced', 'back']) create(name, name)
     syncFolder()
     fs.unlinkSync(place('removed'))
     fs.renameSync(place('renamed'), place('replaced'))
     fs.mkdirSync(place('inner'))
     create('inner/synced', 'within')
     syncFolder('inner')
     create('inner/unsynced', 'within')
     syncFolder()
     fs.unlinkSync(place('back'))
     create('new', 'new')
     fs.mkdirSync(place('empty'))`,
  )
  assert.deepEqual((await readdir(disk.folder)).sort(), ['back', 'inner', 'kept', 'replaced'])
  assert.deepEqual(await readdir(join(disk.folder, 'inner')), ['synced'])
  assert.equal(await contentOf(disk, 'replaced'), 'renamed')
  assert.equal(await contentOf(disk, 'back'), 'back')
  assert.equal(await contentOf(disk, 'inner/synced'), 'within')
})

test('what was there when the process began is there after a cut', async (context) => {
  const disk = await diskFor(context)
  if (disk === undefined) return
  await writeFile(join(disk.folder, 'before'), 'from before')
  await runUntilCut(disk, `fs.writeFileSync(place('before'), 'overwritten')`)
  assert.equal(await contentOf(disk, 'before'), 'from before')
})

test('what a process that died did not sync is there after a cut where the next process synced it', async (context) => {
  const disk = await diskFor(context)
  if (disk === undefined) return
  await runUntilKilled(
    disk,
    `const [left, taken] = [create('left', 'durable'), create('taken', 'durable')]
     syncFolder()
     fs.writeSync(left, 'longer than durable', 0)
     fs.writeSync(taken, 'longer than durable', 0)
     fs.mkdirSync(place('inner'))
     create('inner/late', 'late')
     syncFolder('inner')
     fs.unlinkSync(place('left'))
     create('new', 'new')`,
  )
  await runUntilKilled(disk, `fs.fdatasyncSync(fs.openSync(place('taken')))`)
  await runUntilCut(disk, `create('newer', 'newer')`)
  assert.deepEqual((await readdir(disk.folder)).sort(), ['left', 'taken'])
  assert.equal(await contentOf(disk, 'left'), 'durable')
  assert.equal(await contentOf(disk, 'taken'), 'longer than durable')

  await runUntilKilled(disk, `create('new', 'new'); fs.unlinkSync(place('left')); fs.mkdirSync(place('inner'))`)
  await runUntilCut(disk, `create('inner/late', 'late'); syncFolder('inner'); syncFolder()`)
  assert.deepEqual((await readdir(disk.folder)).sort(), ['inner', 'new', 'taken'])
  assert.equal(await contentOf(disk, 'inner/late'), 'late')
})

for (const [synchronous, left] of [
  ['full', 100],
  ['off', 0],
] as const) {
  test(`SQLite with synchronous = ${synchronous} has ${left} of 100 commits after a cut`, async (context) => {
    const disk = await diskFor(context)
    if (disk === undefined) return
    await runUntilCut(
      disk,
      `const database = new DatabaseSync(place('some.sqlite'))
       database.exec('pragma journal_mode = wal; create table some (n integer)')
       database.exec('pragma wal_checkpoint(truncate); pragma synchronous = ${synchronous}')
       for (let n = 1; n <= 100; n++) database.prepare('insert into some values (?)').run(n)`,
    )
    const { stdout } = await runNode(
      `const database = new DatabaseSync(place('some.sqlite'))
       console.log(database.prepare('select count(*) as rows from some').get().rows)`,
      { POWER_CUT_FOLDER: disk.folder },
    )
    assert.equal(Number(stdout), left)
  })
}

test('a process that is to die within its third sync has the changes of two after the cut', async (context) => {
  const disk = await diskFor(context)
  if (disk === undefined) return
  const program = `create('data', 'first'); syncFolder(); create('other', ''); syncFolder()`
  await assert.rejects(runNode(program, disk.environmentCutAt(3)), { signal: 'SIGKILL' })
  await disk.cut()
  assert.deepEqual(await readdir(disk.folder), ['data'])
})

test('by chance some pages that were not synced survive a cut, and are those that were written', async (context) => {
  const disk = await diskFor(context)
  if (disk === undefined) return
  const random = seededRandom(2)
  await runUntilCut(
    disk,
    `const file = create('data', 'a'.repeat(100 * 4096))
     syncFolder()
     fs.writeSync(file, 'b'.repeat(100 * 4096), 0)`,
    random,
  )
  const content = await contentOf(disk, 'data')
  const pages = Array.from({ length: 100 }, (_, page) => content.slice(page * 4096, (page + 1) * 4096))
  const survivors = pages.filter((page) => page === 'b'.repeat(4096)).length
  assert.ok(survivors > 0 && survivors < 100, `${survivors} of 100 pages`)
  assert.equal(pages.filter((page) => page === 'a'.repeat(4096)).length, 100 - survivors)
})

test('by chance the names of a folder that was not synced survive a cut, and all of them', async (context) => {
  for (const [seed, names] of [
    [1, 'first'],
    [7, 'inner,second'],
  ] as const) {
    const disk = await diskFor(context)
    if (disk === undefined) return
    await runUntilCut(
      disk,
      `create('first', 'first')
       syncFolder()
       fs.unlinkSync(place('first'))
       create('second', 'second')
       fs.mkdirSync(place('inner'))`,
      seededRandom(seed),
    )
    assert.equal((await readdir(disk.folder)).sort().join(), names)
  }
})

async function diskFor(context: TestContext): Promise<PowerCutDisk | undefined> {
  const disk = await makePowerCutDisk(context)
  context.after(() => disk?.remove())
  return disk
}

/** The program kills itself after its last line, as nothing of it may be tidied up. */
async function runUntilKilled(disk: PowerCutDisk, program: string): Promise<void> {
  const run = runNode(`${program}\nprocess.kill(process.pid, 'SIGKILL')`, disk.environment)
  await assert.rejects(run, { signal: 'SIGKILL' })
}

async function runUntilCut(disk: PowerCutDisk, program: string, survivors?: SeededRandom): Promise<void> {
  await runUntilKilled(disk, program)
  await disk.cut(survivors)
}

function runNode(program: string, environment: Readonly<Record<string, string>>): Promise<{ stdout: string }> {
  const options = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', PRELUDE + program]
  return promisify(execFile)(process.execPath, options, { env: { ...environment }, encoding: 'utf8' })
}

async function contentOf(disk: PowerCutDisk, name: string): Promise<string> {
  return readFile(join(disk.folder, name), 'utf8')
}
