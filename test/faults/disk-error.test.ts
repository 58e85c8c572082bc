/**
 * A disk that can not sync, once and for ever, below each store of the real program. What could not be synced is not acknowledged, the
 * operator hears of it, the file is not trusted again, and with a disk that is well again everything goes on by itself. Only NATS has to
 * be started again: into a stream whose file could not be synced it takes nothing more.
 */
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { partitionOf, streamOf } from '../../engine/link/partition.ts'
import { RestClient, login } from '../support/clients.ts'
import { startDiskErrors, type DiskCall } from '../support/disk-errors.ts'
import { figure } from '../support/figure.ts'
import { requireTool } from '../support/require-tool.ts'
import { requireOwnServer, startNats, startPostgres, type RunningServer } from '../support/servers/index.ts'
import { natsAndPostgresEnvironment } from '../support/start-cluster.ts'
import type { Member } from './campaign/member.ts'
import { acknowledgedSince, health, startLoaded, startProcess, waitFor, waitForLog } from './one-process.ts'

const DEVICES = 8
/** strace counts the calls of each thread: only where one thread writes the log is "once" once. */
const ONE_DISK_THREAD = { UV_THREADPOOL_SIZE: '1' }
const FOR_EVER = '1+'

/** Names of segments that are there or may come: more than a test makes. */
const NUMBERS = Array.from({ length: 60 }, (_, index) => String(index + 1).padStart(10, '0'))

/** Where a store keeps what it acknowledges, and the calls that sync it. The link's log is opened so that its writes do. */
const LINK = { files: NUMBERS.map((number) => `link/segment-${number}.log`), calls: ['pwrite64'] }
const TIME_SERIES = { files: NUMBERS.map((number) => `time-series/${number}.log`), calls: ['fdatasync'] }
const ENTITIES = { files: ['entities.sqlite', 'entities.sqlite-wal'], calls: ['fsync', 'fdatasync'] }

function breakDisk(context: TestContext, member: Member, store: typeof LINK, when: string) {
  const { pid, dataDir } = member.process
  return startDiskErrors(context, { ...store, pid, files: store.files.map((file) => join(dataDir, file)), when })
}

/** After its first failure nothing more is written to a file, nor synced as if that made it good. */
function assertLeftAlone(calls: readonly DiskCall[]): void {
  const index = calls.findIndex(({ isFailed }) => isFailed)
  const path = calls[index]?.path
  const later = calls.slice(index + 1).filter((call) => call.path === path)
  assert.deepEqual(later, [], 'calls on the file behind its failure')
}

test('D6: a sync of the log of the link fails once: refused, told, another file, nothing lost', async (context) => {
  if (!requireTool(context, 'strace')) return
  const { member, journals, random, judgeAfterKill } = await startLoaded(context, ONE_DISK_THREAD, DEVICES)
  const errors = await breakDisk(context, member, LINK, String(random.between(1, 30)))
  await waitForLog(member, /"msg":"link: disk-recovered"/)
  const recoveredAt = performance.now()
  await waitFor('acknowledgements', () => acknowledgedSince(journals, recoveredAt))
  const calls = await errors.heal()
  assert.equal(calls.filter(({ isFailed }) => isFailed).length, 1)
  assertLeftAlone(calls)
  await waitForLog(member, /link\/segment-\d+\.log","error":"EIO: i\/o error, write","msg":"link: disk-failed"/)
  assert.equal(await figure(member.process, 'millrace_link_disk_failures_total'), 1)
  assert.equal(await health(member.process), 'UP')
  await judgeAfterKill(context, 'one failure')
})

test('D6: no sync of the log of the link succeeds: nothing is acknowledged until one does', async (context) => {
  if (!requireTool(context, 'strace')) return
  const { member, journals, judgeAfterKill } = await startLoaded(context, {}, DEVICES)
  const http = journals.filter(({ device }) => device.protocol === 'HTTP')
  const errors = await breakDisk(context, member, LINK, FOR_EVER)
  await waitForLog(member, /"msg":"link: disk-failed"/)
  const failedAt = performance.now()
  await waitFor('refusals', () =>
    http.every(
      ({ sent }) => sent.filter((value) => value.sentAt > failedAt && value.outcome === 'refused').length >= 3,
    ),
  )
  assert.equal(await health(member.process), 'DOWN: link')
  await waitFor('a second try', async () => (await figure(member.process, 'millrace_link_disk_failures_total')) > 1)
  const acknowledged = journals.flatMap((journal) => journal.firstAcknowledgementSince(failedAt) ?? [])
  assert.deepEqual(acknowledged, [], 'acknowledged on a disk that takes nothing')
  const calls = await errors.heal()
  const healedAt = performance.now()
  assertLeftAlone(calls)
  await waitFor('acknowledgements', () => acknowledgedSince(journals, healedAt))
  assert.equal(await health(member.process), 'UP')
  await judgeAfterKill(context, `${calls.filter(({ isFailed }) => isFailed).length} failures`)
})

for (const [title, isOnce] of [
  ['a sync of the time-series log fails once: its points wait, and are there once', true],
  ['no sync of the time-series log succeeds: points wait until one does', false],
] as const) {
  test(`D6: ${title}`, async (context) => {
    if (!requireTool(context, 'strace')) return
    const { member, journals, random, judgeAfterKill } = await startLoaded(context, {}, DEVICES)
    const errors = await breakDisk(context, member, TIME_SERIES, isOnce ? String(random.between(1, 30)) : FOR_EVER)
    const outage = /failed and nothing of it is kept: EIO: i\/o error, fdatasync","msg":"messages wait for what is away/
    await waitForLog(member, outage)
    await waitForLog(member, /The write to \S+time-series\/\d+\.log failed/)
    if (!isOnce) {
      const failedAt = performance.now()
      await waitFor('acknowledgements by the link', () => acknowledgedSince(journals, failedAt))
      assert.equal(await health(member.process), 'DOWN: timeSeries')
      assert.equal(await figure(member.process, 'millrace_time_series_takes_writes'), 0)
      assert.ok((await figure(member.process, 'millrace_queue_held_messages')) > 0)
    }
    if (isOnce) await waitForLog(member, /an outage is over/)
    const calls = await errors.heal()
    const healedAt = performance.now()
    assertLeftAlone(calls)
    if (isOnce) assert.equal(calls.filter(({ isFailed }) => isFailed).length, 1)
    await waitFor('acknowledgements', () => acknowledgedSince(journals, healedAt))
    await waitFor('the store to take writes', async () => (await health(member.process)) === 'UP')
    assert.equal(await figure(member.process, 'millrace_time_series_takes_writes'), 1)
    await judgeAfterKill(context, `${calls.filter(({ isFailed }) => isFailed).length} failures`)
  })
}

/** Devices that users make over REST, by what they were told. */
class Registrations {
  readonly answered = { ok: new Set<string>(), refused: new Set<string>() }
  readonly #rest: RestClient

  constructor(rest: RestClient) {
    this.#rest = rest
  }

  /** Every refusal is the server's, and says that it is. */
  async register(name: string): Promise<boolean> {
    const { status, text } = await this.#rest.call('POST', `/api/device?accessToken=${name}`, { name })
    if (status === 200) {
      this.answered.ok.add(name)
      this.answered.refused.delete(name)
      return true
    }
    assert.equal(status, 500, text)
    assert.match(text, /"message":"Database error","errorCode":46/)
    this.answered.refused.add(name)
    return false
  }

  async names(): Promise<readonly string[]> {
    const page = await this.#rest.expect<{ data: readonly { name: string }[] }>(
      'GET',
      '/api/tenant/devices?pageSize=1000&page=0&textSearch=registered',
    )
    return page.data.map(({ name }) => name)
  }

  /** Also of what was refused nothing may be there twice. */
  async compare(context: TestContext, { process }: Member): Promise<void> {
    const names = await this.names()
    const { ok, refused } = this.answered
    const lost = [...ok].filter((name) => !names.includes(name))
    const duplicated = names.length - new Set(names).size
    context.diagnostic(
      `sent ${ok.size + refused.size}, acknowledged ${ok.size}, refused ${refused.size}, found ${names.length}, ` +
        `lost ${lost.length}, duplicated ${duplicated}`,
    )
    assert.deepEqual([lost, duplicated], [[], 0])
    assert.deepEqual(
      names.filter((name) => !ok.has(name) && !refused.has(name)),
      [],
    )
    for (const name of ok) {
      const response = await fetch(`${process.url}/api/v1/${name}/telemetry`, { method: 'POST', body: '{"n":1}' })
      assert.equal(response.status, 200, `the device ${name} can log in`)
    }
  }
}

test('D6: a sync of the entity database fails: the save is refused, and works when it is tried again', async (context) => {
  if (!requireTool(context, 'strace')) return
  const member = await startProcess(context, {})
  const devices = new Registrations(new RestClient(member.process, await login(member.process)))
  assert.ok(await devices.register('registered_before'))
  const errors = await breakDisk(context, member, ENTITIES, FOR_EVER)
  assert.equal(await devices.register('registered_amid'), false)
  assert.ok((await errors.heal()).some(({ isFailed }) => isFailed))
  assert.deepEqual(await devices.names(), ['registered_before'], 'what was refused is not there')
  assert.ok(await devices.register('registered_amid'))
  assert.ok(await devices.register('registered_after'))
  await waitForLog(member, /entities\.sqlite","reason":"disk I\/O error","msg":"the entity store takes no changes/)
  await waitForLog(member, /the entity store takes changes again/)
  assert.equal(await health(member.process), 'UP')
  await member.kill()
  await member.restart()
  await devices.compare(context, member)
})

test('D6: no sync of the entity database succeeds: every save is refused, reads and devices go on', async (context) => {
  if (!requireTool(context, 'strace')) return
  const member = await startProcess(context, {})
  const devices = new Registrations(new RestClient(member.process, await login(member.process)))
  assert.ok(await devices.register('registered_before'))
  const errors = await breakDisk(context, member, ENTITIES, FOR_EVER)
  for (let number = 1; number <= 10; number++) assert.equal(await devices.register(`registered_${number}`), false)
  assert.equal(await health(member.process), 'DOWN: entities')
  assert.equal(await figure(member.process, 'millrace_entities_takes_writes'), 0)
  assert.deepEqual(await devices.names(), ['registered_before'])
  const upload = await fetch(`${member.process.url}/api/v1/registered_before/telemetry`, {
    method: 'POST',
    body: '{"n":1}',
  })
  assert.equal(upload.status, 200)
  await errors.heal()
  await waitFor('the store to take changes', async () => (await health(member.process)) === 'UP')
  assert.equal(await figure(member.process, 'millrace_entities_takes_writes'), 1)
  for (let number = 1; number <= 5; number++) assert.ok(await devices.register(`registered_${number}`))
  await member.kill()
  await member.restart()
  await devices.compare(context, member)
})

const PARTITIONS = 4
const STREAMS = 2

async function blocksOf(nats: RunningServer, stream: number): Promise<string[]> {
  const folder = join(nats.dataDir, 'jetstream', '$G', 'streams', `millrace_S${stream}`, 'msgs')
  const last = Math.max(...(await readdir(folder)).map((name) => Number(/^(\d+)\.blk$/.exec(name)?.[1] ?? 0)))
  return Array.from({ length: 20 }, (_, index) => join(folder, `${last + index}.blk`))
}

test('D6: a sync of a stream of NATS fails once: what is for it is refused and told until NATS is started again', async (context) => {
  if (!requireTool(context, 'strace') || !requireOwnServer(context, 'nats', 'postgres')) return
  const [nats, postgres] = await Promise.all([startNats({ syncInterval: 'always' }), startPostgres()])
  context.after(() => Promise.all([nats.stop(), postgres.stop()]))
  const environment = {
    ...natsAndPostgresEnvironment({ nats: nats.url, postgres: postgres.url }),
    TB_QUEUE_RE_MAIN_PARTITIONS: String(PARTITIONS),
    NATS_STREAMS: String(STREAMS),
    LINK_PUBLISH_TIMEOUT_MS: '3000',
  }
  const { member, journals, judgeAfterKill } = await startLoaded(context, environment, DEVICES)
  const streamOfDevice = (deviceId: string): number => streamOf(partitionOf(deviceId, PARTITIONS), STREAMS)
  const stream = streamOfDevice(journals[0]?.device.deviceId ?? '')
  const isHit = ({ device }: (typeof journals)[number]): boolean => streamOfDevice(device.deviceId) === stream
  const files = await blocksOf(nats, stream)
  const errors = await startDiskErrors(context, { pid: nats.pid, files, calls: ['fsync', 'fdatasync'], when: '1' })
  await waitFor('NATS to meet the error', async () => (await errors.calls()).some(({ isFailed }) => isFailed))
  const failedAt = performance.now()
  await waitForLog(member, /"msg":"link: stream-silent"/)
  const calls = await errors.heal()
  assert.equal(calls.filter(({ isFailed }) => isFailed).length, 1)
  assertLeftAlone(calls)
  await waitFor('the others to go on', () =>
    acknowledgedSince(
      journals.filter((one) => !isHit(one)),
      failedAt,
    ),
  )
  assert.equal(await health(member.process), 'DOWN: link')
  assert.equal(await figure(member.process, 'millrace_link_silent_streams'), 1)
  const acknowledged = journals.filter(isHit).flatMap((one) => one.firstAcknowledgementSince(failedAt) ?? [])
  assert.deepEqual(acknowledged, [], 'acknowledged by a stream that takes nothing')
  await nats.restart()
  const restartedAt = performance.now()
  await waitFor('acknowledgements', () => acknowledgedSince(journals, restartedAt))
  await waitFor('the link to be well', async () => (await health(member.process)) === 'UP')
  assert.equal(await figure(member.process, 'millrace_link_stream_damages_total'), 0)
  await judgeAfterKill(context, 'one failure')
})
