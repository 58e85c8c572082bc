import assert from 'node:assert/strict'
import { mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { copyLogFolder } from './log-folder.ts'

async function folders(context: TestContext) {
  const root = await mkdtemp(join(tmpdir(), 'millrace-log-folder-'))
  context.after(() => rm(root, { recursive: true, force: true }))
  const source = join(root, 'source')
  await mkdir(source)
  return { source, target: join(root, 'deep', 'target') }
}

/** A log of numbered records in space that was filled with zeros; the second log follows the first: a record goes there first. */
async function writer(source: string) {
  const size = 8 << 20
  await mkdir(join(source, 'letters'))
  const main = await open(join(source, 'main.log'), 'w')
  const letters = await open(join(source, 'letters', 'a.log'), 'w')
  await main.writeFile(Buffer.alloc(size))
  await letters.writeFile(Buffer.alloc(size))
  let written = 0
  let stopped = false
  const running = (async () => {
    while (!stopped && (written + 1) * 1000 < size) {
      const record = Buffer.alloc(1000, 1)
      record.writeUInt32LE(written + 1)
      await letters.write(record, 0, 1000, written * 1000)
      await main.write(record, 0, 1000, written * 1000)
      written++
    }
    await main.close()
    await letters.close()
  })()
  return {
    count: () => written,
    stop: () => {
      stopped = true
      return running
    },
  }
}

/** How many whole records the copy begins with; nothing may lie behind them but a torn one. */
function recordsIn(bytes: Buffer): number {
  let count = 0
  while (
    (count + 1) * 1000 <= bytes.length &&
    bytes.readUInt32LE(count * 1000) === count + 1 &&
    bytes[count * 1000 + 999] === 1
  )
    count++
  const rest = bytes.subarray((count + 1) * 1000)
  assert.ok(rest.equals(Buffer.alloc(rest.length)), `something lies behind record ${count}`)
  return count
}

test('the copy of logs that are written to is what a process killed at one instant leaves', async (context) => {
  for (let round = 0; round < 10; round++) {
    const { source, target } = await folders(context)
    const log = await writer(source)
    while (log.count() < 20) await new Promise((resolve) => setImmediate(resolve))
    const before = log.count()
    await copyLogFolder(source, target, () => Date.now())
    const after = log.count()
    await log.stop()
    const [main, letters] = [
      recordsIn(await readFile(join(target, 'main.log'))),
      recordsIn(await readFile(join(target, 'letters', 'a.log'))),
    ]
    assert.ok(main >= before && main <= after + 1, `${before} before, ${main} copied, ${after} after`)
    // At one instant the one log is a record ahead at most, and a torn one.
    assert.ok(letters >= main && letters <= main + 2, `${main} records, ${letters} of what goes before each`)
  }
})

test('a file that is not written to any more is copied whole, one that was removed meanwhile is left out', async (context) => {
  const { source, target } = await folders(context)
  const body = Buffer.from('sealed'.repeat(100_000))
  await writeFile(join(source, 'sealed.log'), body)
  await writeFile(join(source, 'empty.log'), '')
  for (let index = 0; index < 50; index++) await writeFile(join(source, `old-${index}.log`), Buffer.alloc(300_000, 7))
  const removing = (async () => {
    for (let index = 0; index < 50; index++) await rm(join(source, `old-${index}.log`))
  })()
  await copyLogFolder(source, target, () => Date.now())
  await removing
  assert.deepEqual(await readFile(join(target, 'sealed.log')), body)
  assert.ok((await readdir(target)).includes('empty.log'))
  for (const name of await readdir(target)) {
    if (name.startsWith('old-')) assert.equal((await readFile(join(target, name))).length, 300_000, name)
  }
})
