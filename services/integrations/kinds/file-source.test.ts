import assert from 'node:assert/strict'
import {
  appendFile,
  link,
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { JsonValue } from '../../../model/json.ts'
import { ManualClock } from '../../../model/manual-clock.ts'
import { systemClock } from '../../../model/system-clock.ts'
import { csvLines } from '../../import/csv.ts'
import { IntegrationErrors } from '../errors.ts'
import { until } from '../../../test/support/until.ts'
import { sourceParts } from '../source.testkit.ts'
import { fileConfiguration } from './file-configuration.ts'
import { FileRecords } from './file-records.ts'
import { openFileSource } from './file-source.ts'

/** A second is a hundredth of one; only the end of a source takes its time, however slow the machine is. */
const clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic(),
  soon: (run: () => void) => systemClock.soon(run),
  after: (delay: number, run: () => void) => systemClock.after(delay === DRAIN_MS ? 60_000 : delay / 100, run),
}

const DRAIN_MS = 3000

async function root(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-files-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function prepare(context: TestContext, members: object = {}) {
  const top = await root(context)
  const configuration = fileConfiguration.parse({ folder: 'in', pollSeconds: 1, ...members })
  const made = sourceParts(configuration, clock)
  const told: JsonValue[] = []
  const parts = { ...made.parts, root: top, progress: (json: JsonValue) => void told.push(json) }
  const folder = join(top, 't', 'in')
  await mkdir(folder, { recursive: true })
  const begin = async () => {
    const source = await openFileSource(parts)
    context.after(() => source.close())
    return source
  }
  /** Whole at once, as whoever writes here does it. */
  const put = async (name: string, text: string): Promise<void> => {
    await writeFile(join(top, name), text)
    await rename(join(top, name), join(folder, name))
  }
  const list = async (name: string): Promise<readonly string[]> => (await readdir(join(folder, name))).toSorted()
  return { ...made, parts, told, folder, top, begin, put, list }
}

const has = (folder: () => Promise<readonly string[]>, name: string) =>
  until(async () => (await folder()).includes(name))

test('rows of a file are records with the names of the first row, and the file is moved when all are stored', async (context) => {
  const { inlet, begin, put, list, told, folder } = await prepare(context, { delimiter: ';' })
  await put('one.csv', '\uFEFFmeter;t;note\r\na;1;"x;\ny ""z"""\r\n\r\nb;2\n')
  await begin()
  await has(() => list('done'), 'one.csv')
  assert.deepEqual(
    inlet.texts.map((text) => JSON.parse(text) as unknown),
    [
      { meter: 'a', t: '1', note: 'x;\ny "z"' },
      { meter: 'b', t: '2', note: '' },
    ],
  )
  assert.deepEqual(told.at(-1), { file: 'one.csv', bytesDone: 41, bytesTotal: 41, records: 2, bad: 0 })
  assert.deepEqual(await list('failed'), [])
  await put('one.csv', 'meter\nc\n')
  await has(() => list('done'), 'one.csv.2')
  assert.equal((await readFile(join(folder, 'done', 'one.csv'), 'utf8')).length, 39)
})

test('lines of JSON are records, and bad ones are in the report, with their numbers', async (context) => {
  const { inlet, begin, put, list, folder } = await prepare(context, { format: 'NDJSON' })
  inlet.isStoring = false
  await put('a.json', `{"n":1}\nbad\n${'x'.repeat(3000)}\n\n{"n":2}`)
  await begin()
  await until(() => inlet.waiting.length === 3)
  assert.deepEqual(inlet.texts, ['{"n":1}', 'bad', '{"n":2}'])
  assert.equal(inlet.waiting[2]?.frame.metadata['line'], '5')
  const [one, bad, two] = inlet.waiting.splice(0)
  bad?.receipt.done(IntegrationErrors.PAYLOAD({ format: 'JSON', reason: 'no\nsense' }))
  inlet.isStoring = true
  two?.receipt.again(IntegrationErrors.FULL())
  one?.receipt.done(undefined)
  await has(() => list('failed'), 'a.json')
  assert.deepEqual(inlet.texts.slice(3), ['{"n":2}'])
  assert.equal(
    await readFile(join(folder, 'failed', 'a.json.report'), 'utf8'),
    'line 2: The payload is not JSON: no sense\nline 3: a record of 3001 bytes is too long\n',
  )
})

test('who comes after one that was stopped goes on where it was, and the report has each line once', async (context) => {
  const { inlet, begin, put, list, folder, positions } = await prepare(context, { format: 'NDJSON' })
  inlet.isStoring = false
  await put('a.json', Array.from({ length: 2500 }, (_, n) => `${n}\n`).join(''))
  const first = await begin()
  await until(() => inlet.waiting.length === 1000)
  for (const { frame, receipt } of inlet.waiting.splice(0)) {
    const isBad = frame.payload.toString() === '7'
    receipt.done(isBad ? IntegrationErrors.PAYLOAD({ format: 'JSON', reason: 'bad' }) : undefined)
  }
  await until(() => inlet.waiting.length === 1000)
  // As a process that was killed leaves it: a line of the report behind the position.
  const kept = structuredClone(positions.kept.get('file') ?? null)
  const closed = first.close()
  inlet.waiting[3]?.receipt.done(IntegrationErrors.PAYLOAD({ format: 'JSON', reason: 'bad' }))
  inlet.waiting.splice(3, 1)
  inlet.store()
  await closed
  positions.kept.set('file', kept)
  inlet.isStoring = true
  inlet.texts.length = 0
  await begin()
  await has(() => list('failed'), 'a.json')
  assert.equal(inlet.texts[0], '1000')
  assert.equal(inlet.texts.length, 1500)
  const report = await readFile(join(folder, 'failed', 'a.json.report'), 'utf8')
  assert.equal(report, 'line 8: The payload is not JSON: bad\n')
})

test('short rows under long names are read few at a time: each is as long as its names', async (context) => {
  const { inlet, begin, put, list } = await prepare(context)
  Object.assign(inlet, { maxFrameBytes: 262_144 })
  inlet.isStoring = false
  await put('a.csv', `${'n'.repeat(100_000)}\n${'1\n'.repeat(50)}`)
  await begin()
  await until(() => inlet.waiting.length >= 2)
  const held = inlet.waiting.reduce((sum, { frame }) => sum + frame.payload.length, 0)
  assert.ok(held <= 262_144 + 100_100, `${held} bytes`)
  inlet.isStoring = true
  inlet.store()
  await has(() => list('done'), 'a.csv')
  assert.equal(inlet.texts.length, 50)
})

test('a file that is still written is left until it rests', async (context) => {
  const { inlet, parts, list, folder } = await prepare(context, { format: 'NDJSON' })
  const manual = new ManualClock()
  const source = await openFileSource({ ...parts, clock: manual })
  context.after(() => source.close())
  const looked = () => until(() => manual.pendingTimers === 1)
  for (let n = 0; n < 5; n++) {
    await looked()
    await appendFile(join(folder, 'slow'), '1\n')
    await manual.advance(1000)
  }
  await looked()
  assert.deepEqual(inlet.texts, [])
  await manual.advance(1000)
  await has(() => list('done'), 'slow')
  assert.equal(inlet.texts.length, 5)
})

test('nothing leads out of the folder', async (context) => {
  for (const folder of ['..', 'a/../b', '/etc', 'a//b', '.hidden', ''])
    assert.ok(!fileConfiguration.safeParse({ folder }).success, folder)
  const outside = await root(context)
  await writeFile(join(outside, 'secret'), 'secret\n')
  const { inlet, begin, put, list, folder, top, parts } = await prepare(context, { format: 'NDJSON' })
  await symlink(join(outside, 'secret'), join(folder, 'a-link'))
  await link(join(outside, 'secret'), join(folder, 'b-second-name'))
  await put('last', 'own\n')
  const source = await begin()
  await has(() => list('done'), 'last')
  assert.deepEqual(inlet.texts, ['own'])
  await source.close()
  // Of the folders none may be a link either.
  for (const replaced of [join(folder, 'done'), folder, join(top, 't')]) {
    await rm(replaced, { recursive: true })
    await symlink(outside, replaced)
    await assert.rejects(openFileSource(parts), /leads elsewhere/)
    await rm(replaced)
    await mkdir(replaced, { recursive: true })
  }
  await assert.rejects(openFileSource({ ...parts, root: undefined }), /INTEGRATION_FOLDER/)
})

test('records are cut as the reader of CSV cuts them, however long, and a quote that nothing closes ends with its record', async (context) => {
  const folder = await root(context)
  const texts = [
    'a,b\n',
    '"x\n""y",2\r\n',
    'plain"quote,"z"\n',
    ',\n',
    `"${'l'.repeat(70_000)}\n${'m'.repeat(70_000)}",1\n`,
    'last,"q"',
  ]
  const path = join(folder, 'file')
  await writeFile(path, texts.join(''))
  const handle = await openFile(path)
  context.after(() => handle.close())
  const configuration = { format: 'CSV' as const, delimiter: ',' }
  const records = new FileRecords(handle, configuration, 1 << 20)
  const found: string[] = []
  for (let record = await records.next(); record !== undefined; record = await records.next()) {
    found.push(record.bytes?.toString() ?? 'too long')
    // From its end another goes on in the same way.
    const from = { position: record.end, line: record.nextLine }
    assert.ok(
      (await new FileRecords(handle, configuration, 1 << 20, from).next()) !== undefined ||
        from.position === (await handle.stat()).size,
    )
  }
  assert.deepEqual(
    found,
    texts.map((text) => text.replace(/\r?\n$/, '')),
  )
  const rows = found.flatMap((text) => [...csvLines(text, ',')].map(({ cells }) => cells.join('|')))
  assert.deepEqual(
    rows,
    [...csvLines(texts.join(''), ',')].map(({ cells }) => cells.join('|')),
  )
  await writeFile(path, `a,b\n"never closed,1\n${'x,2\n'.repeat(50_000)}end,3\n`)
  const broken = new FileRecords(handle, configuration, 1000)
  await broken.next()
  assert.equal((await broken.next())?.bytes, undefined)
  assert.equal((await broken.next())?.bytes?.toString(), 'x,2')
})
