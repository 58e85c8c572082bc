import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import { canRunNats } from '../../test/support/servers/nats.ts'
import { requireServer, startNats, type RunningServer } from '../../test/support/servers/index.ts'
import { connectNats, type NatsLine } from '../cluster/nats-connection.ts'
import { message } from '../link/testkit.ts'
import { testParkedStore, type StoreUnderTest } from './contract.ts'
import { NatsParkedLog, prepareParkedStream } from './nats-parked-log.ts'
import type { LaneNote } from './parked-block.ts'
import { ParkedStore } from './parked-store.ts'
import { folderHolds } from './testkit.ts'

test('a NATS server can be had', (context) => void requireServer(context, 'nats'))

interface OpenStore {
  readonly store: ParkedStore
  readonly line: NatsLine
  readonly close: () => Promise<void>
}

/** A line that a failed test left open looks for the stopped server for ever, and the file would not end. */
const lines: NatsLine[] = []

async function openStore(servers: string, prefix: string, partition = 0): Promise<OpenStore> {
  const line = await connectNats({ servers, name: 'test', clock: systemClock })
  lines.push(line)
  await prepareParkedStream({ line, prefix, replicas: 1, clock: systemClock })
  const log = new NatsParkedLog({ line, prefix, partition, clock: systemClock, onDamage: () => assert.fail('damage') })
  const options = { log, partition, clock: systemClock, slackBytes: 1 << 16, restMs: 0, onTrouble: () => undefined }
  const store = await ParkedStore.open(options)
  return {
    store,
    line,
    close: async () => {
      await store.close()
      await line.close()
    },
  }
}

async function underTest(servers: string, prefix: string, folder: string): Promise<StoreUnderTest> {
  const { store, line, close } = await openStore(servers, prefix)
  return {
    store,
    crash: async () => {
      store.stop()
      await line.connection.close()
      return underTest(servers, prefix, folder)
    },
    close,
    holds: async (text) => (process.env['TEST_NATS_URL'] === undefined ? filesHold(folder, prefix, text) : undefined),
  }
}

async function filesHold(dataDir: string, prefix: string, text: string): Promise<boolean> {
  const folders = await readdir(dataDir, { recursive: true, withFileTypes: true })
  const own = folders.find(({ name }) => name === `${prefix}_PARKED`)
  assert.ok(own !== undefined)
  return folderHolds(join(own.parentPath, own.name), text)
}

function noteOf(): LaneNote {
  const { tenantId, originator } = message({ device: 1 })
  return { queueName: 'Main', key: originator.id, tenantId, originatorType: 'DEVICE', why: '', sinceMs: 0 }
}

const newPrefix = (): string => `t${systemRandom.uuid().slice(0, 8)}`

if (process.env['TEST_NATS_URL'] !== undefined || canRunNats()) {
  let server: RunningServer | undefined
  let dataDir = ''
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'parked-nats-'))
    server = await startNats({ syncInterval: 'always', dataDir })
  })
  after(async () => {
    for (const line of lines) await line.connection.close()
    await server?.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  testParkedStore('JetStream', () => {
    const prefix = newPrefix()
    return underTest(server?.url ?? '', prefix, dataDir)
  })

  test('the stream is asked for again where the servers do not answer for it yet', async () => {
    const { line, close } = await openStore(server?.url ?? '', newPrefix())
    let questions = 0
    const connection = new Proxy(line.connection, {
      get: (target, name): unknown => {
        if (name !== 'request') return Reflect.get(target, name)
        const request: NatsConnection['request'] = (...question) =>
          ++questions === 1 ? Promise.reject(new Error('no leader yet')) : target.request(...question)
        return request
      },
    })
    const prefix = newPrefix()
    await prepareParkedStream({ line: { connection }, prefix, replicas: 1, clock: systemClock })
    const manager = await jetstreamManager(line.connection)
    assert.equal((await manager.streams.info(`${prefix}_PARKED`)).config.name, `${prefix}_PARKED`)
    assert.ok(questions > 1)
    await close()
  })

  test('who has taken a partition fences who had it: nothing of that one is kept, and it says so', async () => {
    const prefix = newPrefix()
    const before_ = await openStore(server?.url ?? '', prefix)
    const made = [1, 2, 3].map((sequence) => Object.assign(message({ device: 1 }), { sequence }))
    const [one, late, two] = made
    assert.ok(one !== undefined && late !== undefined && two !== undefined)
    const note = noteOf()
    await before_.store.append(before_.store.openLane(note), one, 1)
    const now = await openStore(server?.url ?? '', prefix)
    await assert.rejects(before_.store.append(before_.store.openLane(note), late, 1), /parked messages of partition 0/)
    assert.equal(before_.store.isClosed, true)
    await now.store.append(now.store.openLane(note), two, 1)
    const found = now.store.lane('Main', note.key)?.entries.map(({ sequence }) => sequence)
    assert.deepEqual(found, [1, 3])
    const other = await openStore(server?.url ?? '', prefix, 1)
    assert.deepEqual([...other.store.lanes()], [], 'another partition has messages of its own')
    await Promise.all([before_.close(), now.close(), other.close()])
  })

  test('who has given a partition away removes nothing of it any more', async () => {
    const prefix = newPrefix()
    const { store, line, close } = await openStore(server?.url ?? '', prefix)
    const lane = store.openLane(noteOf())
    for (let sequence = 1; sequence <= 200; sequence++)
      await store.append(lane, Object.assign(message({ device: 1 }), { sequence }), 1)
    const entries = [...lane.entries]
    await Promise.all(entries.map((entry) => store.done(lane, entry)))
    await store.close()
    const manager = await jetstreamManager(line.connection)
    const count = async (): Promise<number> => (await manager.streams.info(`${prefix}_PARKED`)).state.messages
    const left = await count()
    assert.ok(left > 100, `${left} blocks are left`)
    let now = left
    // Each of them takes as long as the removal of a block would.
    for (let question = 0; question < 100; question++) now = await count()
    assert.ok(now >= left - 1, 'it goes on')
    await close()
  })

  test('who takes a partition reads none that is being removed: of what was done with the note might be gone', async () => {
    const prefix = newPrefix()
    const { store, line, close } = await openStore(server?.url ?? '', prefix)
    const lane = store.openLane(noteOf())
    for (let sequence = 1; sequence <= 50; sequence++)
      await store.append(lane, Object.assign(message({ device: 1 }), { sequence }), 1)
    const manager = await jetstreamManager(line.connection)
    const next = new NatsParkedLog({
      line,
      prefix,
      partition: 0,
      clock: systemClock,
      onDamage: () => assert.fail('damage'),
    })
    let removing: Promise<boolean> | undefined
    const loading = next.load((place) => void (removing ??= manager.streams.deleteMessage(`${prefix}_PARKED`, place)))
    await assert.rejects(loading, /went while they were read/)
    assert.equal(await removing, true)
    const again = await openStore(server?.url ?? '', prefix)
    await Promise.all([again.close(), close()])
  })
}
