import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { ManualClock } from '../actor/testkit.ts'
import { DeadLetterStore } from './dead-letters.ts'
import type { Disk } from '../../disk/disk.ts'
import type { LinkEvent } from './events.ts'
import { nodeDisk } from '../../disk/node-disk.ts'
import { message } from './testkit.ts'

interface Opened {
  readonly store: DeadLetterStore
  readonly events: LinkEvent[]
  readonly directory: string
  /** Files opened to read letters, or to write them. */
  readonly opened: string[]
  /** Files, once a write. */
  readonly written: string[]
  readonly reopen: () => Promise<Opened>
  readonly put: (id: number, tenantId: string, size?: number) => Promise<void>
  readonly ids: (tenantId?: string) => Promise<number[]>
}

async function open(
  context: TestContext,
  bounds: { readonly maxLetters?: number; readonly maxBytes?: number; readonly segmentBytes?: number },
  at?: string,
  clock = new ManualClock(),
): Promise<Opened> {
  const directory = at ?? (await mkdtemp(join(tmpdir(), 'millrace-letters-')))
  if (at === undefined) context.after(() => rm(directory, { recursive: true, force: true }))
  const events: LinkEvent[] = []
  const opened: string[] = []
  const written: string[] = []
  const disk: Disk = {
    ensureDirectory: (path) => nodeDisk.ensureDirectory(path),
    list: (path) => nodeDisk.list(path),
    create: async (path) => {
      const file = await nodeDisk.create(path)
      const write = file.write.bind(file)
      file.write = (data, position) => {
        written.push(path)
        return write(data, position)
      }
      return file
    },
    open: (path) => {
      opened.push(path)
      return nodeDisk.open(path)
    },
    remove: (path) => nodeDisk.remove(path),
    rename: (from, to) => nodeDisk.rename(from, to),
    syncDirectory: (path) => nodeDisk.syncDirectory(path),
  }
  const store = await DeadLetterStore.open({
    disk,
    directory,
    durability: 'process-death',
    clock,
    segmentBytes: bounds.segmentBytes ?? 4096,
    maxLetters: bounds.maxLetters ?? 1000,
    maxBytes: bounds.maxBytes ?? 1 << 20,
    onEvent: (event) => void events.push(event),
  })
  opened.length = 0
  return {
    store,
    events,
    directory,
    opened,
    written,
    reopen: async () => {
      await store.close()
      return open(context, bounds, directory, clock)
    },
    put: async (id, tenantId, size = 100) => {
      const letter = message({ tenantId, data: 'x'.repeat(size) })
      letter.sequence = id
      await clock.advance(1)
      await store.put({ message: letter, reason: 'no luck', attempts: 3 })
    },
    ids: async (tenantId) => (await store.list({ tenantId, limit: 10_000 })).map(({ id }) => id),
  }
}

test('issue-8 2.11: the list of a tenant reads its own letters, page by page, and no other', async (context) => {
  const first = await open(context, {})
  for (let id = 1; id <= 300; id++) await first.put(id, id % 100 === 0 ? 'mine' : 'other')
  for (const { store, opened, ids } of [first, await first.reopen()]) {
    opened.length = 0
    const page = await store.list({ tenantId: 'mine', limit: 2 })
    assert.deepEqual(
      page.map(({ id, message: { tenantId } }) => [id, tenantId]),
      [
        [100, 'mine'],
        [200, 'mine'],
      ],
    )
    assert.equal(opened.length, 2, 'only what is listed is read')
    const rest = await store.list({ tenantId: 'mine', after: 200, limit: 2 })
    assert.deepEqual(
      rest.map(({ id }) => id),
      [300],
    )
    assert.deepEqual(await ids('nobody'), [])
    assert.equal((await ids()).length, 300)
  }
})

test('issue-8 2.10: a tenant that buries without end pushes out its own oldest letters, and nobody else’s', async (context) => {
  const first = await open(context, { maxLetters: 10, maxBytes: 1 << 20 })
  for (const id of [1, 2, 3]) await first.put(id, 'quiet')
  for (let id = 4; id <= 500; id++) await first.put(id, 'noisy')
  const lastSeven = [494, 495, 496, 497, 498, 499, 500]
  for (const { ids } of [first, await first.reopen()]) {
    assert.deepEqual(await ids('quiet'), [1, 2, 3])
    assert.deepEqual(await ids('noisy'), lastSeven)
  }
  assert.equal(first.store.droppedCount, 490)
  const told = first.events.map((event) => (event.kind === 'dead-letters-dropped' ? event.count : Number.NaN))
  assert.equal(
    told.reduce((sum, count) => sum + count, 0),
    490,
  )
})

test('issue-8 2.10: a tenant with few large letters pushes out its own, and the files stay within their bound', async (context) => {
  const maxBytes = 64 << 10
  const first = await open(context, { maxBytes })
  const quiet = [1, 2, 3, 4, 5]
  for (const id of quiet) await first.put(id, 'quiet')
  for (let id = 6; id <= 300; id++) await first.put(id, 'noisy', 3000)
  for (let id = 301; id <= 320; id++) await first.put(id, 'third')
  const again = await first.reopen()
  for (const { ids } of [first, again]) {
    assert.deepEqual(await ids('quiet'), quiet)
    assert.equal((await ids('third')).length, 20)
    const noisy = await ids('noisy')
    assert.ok(noisy.length > 5 && noisy.length < 25, `${noisy.length} large letters`)
    assert.equal(noisy.at(-1), 300)
  }
  const files = await readdir(first.directory)
  const sizes = await Promise.all(files.map((file) => stat(join(first.directory, file))))
  const bytes = sizes.reduce((sum, { size }) => sum + size, 0)
  assert.ok(bytes <= maxBytes + 4096, `${bytes} bytes`)
})

test('issue-8 2.10: after a start the oldest letters of the tenant go first, also where they were written again', async (context) => {
  const bounds = { maxLetters: 40, maxBytes: 20 << 10, segmentBytes: 2048 }
  const first = await open(context, bounds)
  for (let id = 1; id <= 200; id++) await (id % 15 === 0 ? first.put(id, 'mine') : first.put(id, 'noisy', 1000))
  const before = await first.ids('mine')
  assert.equal(before.length, 13)
  const again = await first.reopen()
  for (let id = 201; (await again.ids('mine')).length === id - 188; id++) await again.put(id, 'mine')
  assert.equal((await again.ids('mine')).at(0), 30, 'the first that went is the oldest')
})

test('of letters that were removed no file holds anything once they are erased; the others stay, over a start too', async (context) => {
  const first = await open(context, { segmentBytes: 2048 })
  for (let id = 1; id <= 30; id++) await first.put(id, id % 3 === 0 ? 'REMOVED' : 'kept', 300)
  for (const id of await first.ids('REMOVED')) await first.store.remove(id)
  // Where it was removed before a start, nobody is left who knows.
  const again = await first.reopen()
  const kept = await again.ids()
  const holdRemoved = async () => {
    const files = await readdir(first.directory)
    const contents = await Promise.all(files.map((file) => readFile(join(first.directory, file))))
    return contents.some((content) => content.includes('REMOVED'))
  }
  assert.ok(await holdRemoved(), 'nothing was there to be erased')
  const erasing = again.store.eraseRemoved()
  await again.put(31, 'kept')
  assert.deepEqual(await erasing, { isGone: true })
  assert.ok(!(await holdRemoved()))
  for (const { ids } of [again, await again.reopen()]) assert.deepEqual(await ids(), [...kept, 31])
  again.opened.length = 0
  const rested = await again.reopen()
  await rested.store.eraseRemoved()
  assert.deepEqual(rested.opened, [], 'where nothing was removed since, nothing is written again')
})

test('letters are taken out of their files many a write, and burials go on meanwhile', async (context) => {
  const { store, put, ids, written } = await open(context, { segmentBytes: 64 << 10 })
  for (let id = 1; id <= 900; id++) await put(id, id % 9 === 0 ? 'REMOVED' : 'kept', 300)
  for (const id of await ids('REMOVED')) await store.remove(id)
  const kept = await ids()
  written.length = 0
  let isOver = false
  const erasing = store.eraseRemoved().finally(() => (isOver = true))
  for (const id of [901, 902, 903]) await put(id, 'kept')
  assert.ok(!isOver, 'a burial waits for all files')
  // Of a letter that is moved already, and of one that is not: both are for the next one.
  for (const id of [1, 899]) assert.ok(await store.remove(id))
  assert.deepEqual(await erasing, { isGone: true })
  assert.ok(written.length < 40, `${written.length} writes for ${kept.length} letters`)
  assert.deepEqual(await ids(), [...kept.filter((id) => id !== 1 && id !== 899), 901, 902, 903])
  written.length = 0
  await store.eraseRemoved()
  assert.ok(written.length > 0, 'what was removed meanwhile is forgotten')
})

test('a damaged file is kept for a rescue: of what it may hold nobody hears that it is gone', async (context) => {
  const first = await open(context, { segmentBytes: 2048 })
  for (let id = 1; id <= 20; id++) await first.put(id, id % 3 === 0 ? 'REMOVED' : 'kept', 300)
  for (const id of await first.ids('REMOVED')) await first.store.remove(id)
  await first.store.close()
  const [name = ''] = (await readdir(first.directory)).sort()
  const path = join(first.directory, name)
  const bytes = await readFile(path)
  const middle = bytes.length >> 1
  bytes[middle] = (bytes[middle] ?? 0) ^ 0xff
  await writeFile(path, bytes)
  const again = await first.reopen()
  for (let time = 0; time < 2; time++) {
    const { isGone, rest = '' } = await again.store.eraseRemoved()
    assert.ok((await readFile(`${path}.damaged`)).includes('REMOVED'))
    assert.ok(!isGone && rest.includes(`${name}.damaged`), rest)
  }
  await rm(`${path}.damaged`)
  assert.deepEqual(await again.store.eraseRemoved(), { isGone: true })
})
