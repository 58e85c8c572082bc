/** Folders and streams of earlier versions, recorded when they were killed under load, are opened by this one. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import protobuf from 'protobufjs/minimal.js'
import { DiscardPolicy, jetstream, jetstreamManager, RetentionPolicy } from '@nats-io/jetstream'
import type { Delivery, Link, LinkConsumer } from '../../engine/link/link.ts'
import { connectNats } from '../../engine/cluster/nats-connection.ts'
import { BlockWriter } from '../../engine/link/block-writer.ts'
import { contentOf } from '../../engine/link/jetstream/nats-frame.ts'
import { natsNames } from '../../engine/link/jetstream/nats-names.ts'
import { openTestLink } from '../../engine/link/jetstream/nats-testkit.ts'
import { moveOldStreams } from '../../engine/link/jetstream/nats-upgrade.ts'
import type { FrameLink } from '../../engine/link/frame-link.ts'
import { nodeDisk } from '../../disk/node-disk.ts'
import { openSegmentLog } from '../../engine/link/segments/segment-log.ts'
import { message } from '../../engine/link/testkit.ts'
import { publishAll } from '../../engine/link/contract.ts'
import type { Message } from '../../model/message.ts'
import { systemClock } from '../../model/system-clock.ts'
import { requireOwnServer, startNats } from '../support/servers/index.ts'

const FIXTURES = join(import.meta.dirname, 'fixtures')
const QUEUES = ['Main', 'HighPriority', 'Slow']

interface Account {
  /** With their sequences. */
  readonly acknowledged: ReadonlyMap<string, number>
  readonly settled: ReadonlySet<string>
  readonly failed: ReadonlySet<string>
  readonly buried: ReadonlySet<string>
}

async function accountOf(name: string): Promise<Account> {
  const text = gunzipSync(await readFile(join(FIXTURES, `${name}.account.gz`))).toString()
  // The last line may be torn.
  const lines = text
    .slice(0, text.lastIndexOf('\n'))
    .split('\n')
    .map((line) => line.split(' '))
  const ids = (kind: string): Set<string> => new Set(lines.filter(([of]) => of === kind).map(([, id = '']) => id))
  const acknowledged = new Map(
    lines.filter(([of]) => of === 'a').map(([, id = '', sequence = '']) => [id, Number(sequence)] as const),
  )
  return { acknowledged, settled: ids('s'), failed: ids('f'), buried: ids('b') }
}

async function unpack(context: TestContext, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-upgrade-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  const { status, stderr } = spawnSync('tar', ['-xzf', join(FIXTURES, `${name}.tgz`), '-C', folder], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  return folder
}

/** Everything that is delivered, in order; `expected` resolves when all of these ids are there. */
class Taken implements LinkConsumer {
  readonly deliveries: Delivery[] = []
  private readonly missing: Set<string>
  private readonly whenAll: () => void
  readonly all: Promise<void>

  constructor(expected: ReadonlySet<string>) {
    this.missing = new Set(expected)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.all = promise
    this.whenAll = resolve
    if (this.missing.size === 0) resolve()
  }

  room(): number {
    return 10_000
  }

  deliver(batch: readonly Delivery[]): void {
    this.deliveries.push(...batch)
    for (const {
      message: { id },
    } of batch)
      this.missing.delete(id)
    if (this.missing.size === 0) this.whenAll()
  }
}

const numberOf = (id: string): number => Number(id.slice(2))
const queueOf = (id: string): string => ['Main', 'Main', 'HighPriority', 'Main', 'Slow'][numberOf(id) % 5] ?? ''

interface Upgraded {
  readonly summary: string
  /** Ids of what was settled here. */
  readonly done: ReadonlySet<string>
}

/** All that was acknowledged and not done with comes, once, in order, with its tries; then the link goes on. */
async function checkUpgrade(link: FrameLink & Link, account: Account): Promise<Upgraded> {
  const { acknowledged, settled, failed, buried } = account
  const open = [...acknowledged.keys()].filter((id) => !settled.has(id) && !buried.has(id))
  const takers = QUEUES.map((queue) => new Taken(new Set(open.filter((id) => queueOf(id) === queue))))
  for (const [index, taker] of takers.entries()) link.consume(taker, QUEUES[index])
  await Promise.all(takers.map(({ all }) => all))
  const deliveries = takers.flatMap((taker) => taker.deliveries)
  const ids = deliveries.map(({ message: { id } }) => id)
  assert.equal(new Set(ids).size, ids.length, 'nothing comes twice')
  for (const [index, { deliveries: own }] of takers.entries()) {
    assert.ok(
      own.every(({ message: { id } }) => queueOf(id) === QUEUES[index]),
      'each in its queue',
    )
    const last = new Map<string, { readonly number: number; readonly sequence: number }>()
    for (const {
      message: { id, originator, sequence },
    } of own) {
      const before = last.get(originator.id)
      const number = numberOf(id)
      assert.ok(before === undefined || (before.number < number && before.sequence < sequence), `${id} is in order`)
      assert.ok(sequence >= (acknowledged.get(id) ?? 0), `${id} has no lower sequence than before`)
      last.set(originator.id, { number, sequence })
    }
  }
  for (const {
    message: { id, data, tenantId, metadata },
    attempt,
  } of deliveries) {
    assert.equal(data, `{"value":${numberOf(id)}}`)
    assert.equal(tenantId, `bbbbbbbb-0000-4000-8000-${(1 + (numberOf(id) % 3)).toString(16).padStart(12, '0')}`)
    assert.equal(metadata['deviceName'], `device ${numberOf(id) % 20}`)
    if (attempt !== 1) assert.deepEqual([attempt, failed.has(id)], [4, true])
  }
  const tried = deliveries.filter(({ attempt }) => attempt === 4).length
  assert.ok(tried >= failed.size * 0.8, `${tried} of ${failed.size} know their tries`)
  const again = ids.filter((id) => settled.has(id)).length
  assert.ok(again <= settled.size / 5, `${again} of ${settled.size} settled ones come again`)
  const letters = await link.deadLetters.list({ limit: 1000 })
  const letterIds = new Set(letters.map((letter) => letter.message.id))
  assert.deepEqual(
    letters.map(({ message: { id }, reason, attempts }) => [reason, attempts, numberOf(id)]),
    letters.map(({ message: { id } }) => [`poison ${numberOf(id)}`, 11, numberOf(id)]),
  )
  assert.ok(
    [...buried].every((id) => letterIds.has(id) || ids.includes(id)),
    'what was buried is a letter, or comes again',
  )
  link.settle(deliveries)
  const later = ofAllDevices(40)
  await publishAll(link, later)
  const highest = Math.max(...[...acknowledged.values()].filter((_, index) => index % 20 === 0))
  assert.ok(later.every(({ sequence }) => Number.isSafeInteger(sequence)) && highest > 0)
  const lastOf = new Map<string, number>()
  for (const {
    message: { originator, sequence },
  } of deliveries)
    lastOf.set(originator.id, Math.max(lastOf.get(originator.id) ?? 0, sequence))
  for (const { originator, sequence } of later)
    assert.ok(sequence > (lastOf.get(originator.id) ?? 0), 'sequences go on rising')
  const summary = `acknowledged ${acknowledged.size}, settled ${settled.size}, delivered ${ids.length}, of these settled before the kill ${again}, letters ${letters.length}`
  return { summary, done: new Set(ids) }
}

/**
 * What was settled does not come again. What was settled before the kill, and never came before all that was open had come, may: it
 * is behind it in the streams.
 */
async function checkReopened(link: Link, done: ReadonlySet<string>): Promise<void> {
  const last = ofAllDevices(20)
  const takers = QUEUES.map((queue) => new Taken(new Set(queue === 'Main' ? last.map(({ id }) => id) : [])))
  for (const [index, taker] of takers.entries()) link.consume(taker, QUEUES[index])
  await publishAll(link, last)
  await Promise.all(takers.map(({ all }) => all))
  const again = takers.flatMap(({ deliveries }) => deliveries.filter(({ message: { id } }) => done.has(id)))
  assert.equal(again.length, 0, 'nothing that was settled comes again')
}

function ofAllDevices(count: number): Message[] {
  return Array.from({ length: count }, (_, device) => {
    const id = `cccccccc-0000-4000-8000-${(device % 20).toString(16).padStart(12, '0')}`
    return message({ device, originator: { entityType: 'DEVICE', id } })
  })
}

test('a folder of 9b03bf0, killed under load, opens: everything acknowledged is there and goes on in order', async (context) => {
  const folder = await unpack(context, 'folder-9b03bf0')
  const account = await accountOf('folder-9b03bf0')
  const options = { disk: nodeDisk, clock: systemClock, durability: 'power-cut', partitions: 10 } as const
  const log = await openSegmentLog({ ...options, directory: join(folder, 'link') })
  const { summary, done } = await checkUpgrade(log, account)
  context.diagnostic(summary)
  await log.close()
  const again = await openSegmentLog({ ...options, directory: join(folder, 'link') })
  context.after(() => again.close())
  await checkReopened(again, done)
})

test('a folder of this version is refused by 9b03bf0, before it changes anything', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-upgrade-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  const options = { disk: nodeDisk, clock: systemClock, durability: 'power-cut', partitions: 10 } as const
  await (await openSegmentLog({ ...options, directory: folder })).close()
  const segment = await readFile(join(folder, 'segment-0000000001.log'))
  // That version looks at fields it does not know as every reader of protobuf does, and opens no log whose first block it cannot read.
  const reader = protobuf.Reader.create(segment.subarray(12))
  assert.throws(() => reader.skipType(reader.uint32() & 7), /invalid wire type 7/)
})

test('streams of 9b03bf0, killed under load, are moved: everything acknowledged is there and goes on in order', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const folder = await unpack(context, 'streams-9b03bf0')
  const account = await accountOf('streams-9b03bf0')
  await rename(join(folder, 'store'), join(folder, 'data'))
  const nats = await startNats({ syncInterval: 'always', dataDir: folder })
  context.after(() => nats.stop())
  const settings = { partitions: 10, streams: 3 }
  const opened = await openTestLink({ servers: nats.url, prefix: 'millrace', settings })
  context.after(() => opened.close())
  const { summary, done } = await checkUpgrade(opened.link, account)
  context.diagnostic(summary)
  await opened.close()
  const again = await openTestLink({ servers: nats.url, prefix: 'millrace', settings })
  // A client that is left open tries to reach the stopped server for ever, and the file would not end.
  context.after(() => again.close())
  await checkReopened(again.link, done)
  // What 9b03bf0 asks first of all: its records stream, which it finds unfit.
  const { config } = await (await jetstreamManager(again.line.connection)).streams.info('millrace_RECORDS')
  assert.equal(config.discard, 'new')
})

test('issue-8: a move that is interrupted leaves in the old streams what is not moved, and nothing else', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const nats = await startNats({ syncInterval: 'always' })
  context.after(() => nats.stop())
  const line = await connectNats({ servers: nats.url, name: 'test', clock: systemClock })
  context.after(() => line.close())
  const manager = await jetstreamManager(line.connection)
  const client = jetstream(line.connection)
  const names = natsNames('moved')
  const old = names.old.stream(0)
  await manager.streams.add({ name: names.old.records, subjects: [names.old.recordSubject(0)] })
  await manager.streams.add({
    name: old,
    subjects: [names.old.subject(0)],
    retention: RetentionPolicy.Workqueue,
    allow_direct: true,
  })
  const target = { subjects: [names.subject(0)], discard: DiscardPolicy.New, allow_direct: true }
  await manager.streams.add({ name: names.stream(0), ...target, max_msgs: 2 })
  for (const id of ['1', '2', '3', '4']) {
    const block = new BlockWriter(1)
    block.message(message({ id, device: 1 }))
    await client.publish(names.old.subject(0), block.finish())
  }
  const found = { partitions: [0], lastPosition: 4 }
  await assert.rejects(moveOldStreams(manager, client, names, found, 1), /maximum messages/)
  assert.deepEqual((await manager.streams.info(old)).state.messages, 2)
  await manager.streams.update(names.stream(0), { ...target, max_msgs: -1 })
  await moveOldStreams(manager, client, names, found, 1)
  const ids: string[] = []
  for (let seq = 1; seq <= 4; seq++) {
    const stored = await manager.streams.getMessage(names.stream(0), { seq })
    ids.push(...contentOf(seq, stored?.data ?? new Uint8Array(), undefined).messages.map(({ id }) => id))
  }
  assert.deepEqual(ids, ['1', '2', '3', '4'])
  assert.equal((await manager.streams.info(names.stream(0))).state.messages, 4)
  await assert.rejects(manager.streams.info(old), /not found/)
})
