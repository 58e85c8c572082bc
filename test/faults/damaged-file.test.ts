/**
 * One bit is flipped at rest in what each store of the real program keeps, in the middle of what was acknowledged. It is found at the start or
 * at the read and named; what is not damaged is served where the store can be opened at all; a wrong value is never served.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { partitionOf, streamOf } from '../../engine/link/partition.ts'
import { RestClient, login } from '../support/clients.ts'
import { startDiskErrors } from '../support/disk-errors.ts'
import { figure } from '../support/figure.ts'
import { flipBit } from '../support/flipped-bit.ts'
import { requireTool } from '../support/require-tool.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { requireOwnServer, startNats, startPostgres } from '../support/servers/index.ts'
import { isAlive } from '../support/servers/server-process.ts'
import { natsAndPostgresEnvironment } from '../support/start-cluster.ts'
import { embeddedWorldOf } from './campaign/embedded-world.ts'
import { Fleet } from './campaign/fleet.ts'
import { explicitTime, type Journal } from './campaign/journal.ts'
import type { Member } from './campaign/member.ts'
import { judge } from './campaign/verdict.ts'
import { health, report, sendValues, startProcess, waitFor, waitForLog } from './one-process.ts'

const VALUES = 60

interface Prepared {
  readonly member: Member
  readonly fleet: Fleet
  /** Over HTTP, with times of its own. */
  readonly journal: Journal
}

async function prepare(context: TestContext, environment: Readonly<Record<string, string>> = {}): Promise<Prepared> {
  const member = await startProcess(context, environment)
  const fleet = await Fleet.open(embeddedWorldOf(member))
  const devices = await fleet.devices(2)
  const journal = devices.find(({ device }) => device.protocol === 'HTTP')
  assert.ok(journal?.device.explicitTimes === true)
  return { member, fleet, journal }
}

/** Resolves when all but so many values can be read. */
async function found({ fleet, journal }: Prepared, count: number): Promise<ReturnType<typeof judge>> {
  await waitFor(`${count} values to be there`, async () => (await fleet.series(journal)).n.length >= count)
  return judge([{ journal, series: await fleet.series(journal) }])
}

/** A value in the middle, as it stands in files. */
function middle(random: ReturnType<typeof seededRandom>): { readonly value: number; readonly text: string } {
  const value = random.between(VALUES / 4, (VALUES * 3) / 4)
  return { value, text: `value ${value}` }
}

test('D8: a damaged segment of the link: one message is named as lost, all others are delivered', async (context) => {
  if (!requireTool(context, 'strace')) return
  const random = seededRandom()
  const prepared = await prepare(context, { LINK_RETENTION_MINUTES: '0' })
  const { member, journal } = prepared
  const { pid, dataDir } = member.process
  // What the time-series store does not take stays in the link's log.
  const files = Array.from({ length: 20 }, (_, index) =>
    join(dataDir, `time-series/${String(index + 1).padStart(10, '0')}.log`),
  )
  const errors = await startDiskErrors(context, { pid, files, calls: ['fdatasync'], when: '1+' })
  await sendValues(member, journal, VALUES)
  await member.kill()
  await errors.heal()

  const { value, text } = middle(random)
  const [segment] = readdirSync(join(dataDir, 'link')).filter((name) => name.endsWith('.log'))
  const { file, offset } = flipBit(join(dataDir, 'link', segment ?? ''), text, random)
  await member.restart()
  const verdict = await found(prepared, VALUES - 1)
  report(context, random, `byte ${offset} of the link's log`, verdict)
  assert.deepEqual(verdict.findings, [`lost: ${journal.device.name} value ${value} was acknowledged and is not there`])
  const line = new RegExp(`"file":"${file}","from":(\\d+),"to":(\\d+),"lostMessages":1,"msg":"link: damaged"`)
  await waitForLog(member, line)
  const [, from, to] = line.exec(member.process.log()) ?? []
  assert.ok(Number(from) <= offset && offset < Number(to), `${offset} is within ${from} to ${to}`)
  await waitFor('the file to be kept aside', () => existsSync(`${file}.damaged`))
  assert.equal(await health(member.process), 'UP')
})

for (const [place, isLast] of [
  ['in its middle', false],
  ['in its last record', true],
] as const)
  test(`D8: a time-series log that is damaged ${place}: the start is refused with its place, and a backup has everything`, async (context) => {
    const random = seededRandom()
    const prepared = await prepare(context)
    const { member, journal } = prepared
    // What is saved together is one record.
    await sendValues(member, journal, VALUES - 1)
    await found(prepared, VALUES - 1)
    await sendValues(member, journal, 1)
    await found(prepared, VALUES)
    await member.stop()

    const folder = join(member.process.dataDir, 'time-series')
    const [log] = readdirSync(folder).filter((name) => name.endsWith('.log'))
    const bit = flipBit(join(folder, log ?? ''), isLast ? `value ${VALUES}` : middle(random).text, random)
    await assert.rejects(member.restart(), (error: Error) => {
      const told = new RegExp(
        `^ended with 1 before it was ready:\\nThe log is damaged: ${bit.file} at byte (\\d+): `,
      ).exec(error.message)
      assert.ok(told !== null, error.message)
      return Number(told[1]) <= bit.offset
    })
    bit.restore()
    await member.restart()
    const verdict = await found(prepared, VALUES)
    report(context, random, `byte ${bit.offset} of the time-series log, restored`, verdict)
    assert.deepEqual(verdict.findings, [])
  })

const CHUNKS = 4
const CHUNK_POINTS = 1024

test('D8: a damaged chunk: its times are refused by name, all others are served', async (context) => {
  const random = seededRandom()
  const member = await startProcess(context, {})
  const rest = new RestClient(member.process, await login(member.process))
  const deviceId = await rest.createDevice('chunked', 'CHUNKED')
  const total = CHUNKS * CHUNK_POINTS
  for (let first = 0; first < total; first += CHUNK_POINTS) {
    const points = Array.from({ length: CHUNK_POINTS }, (_, index) => ({
      ts: explicitTime(first + index),
      values: { n: first + index },
    }))
    const response = await fetch(`${member.process.url}/api/v1/CHUNKED/telemetry`, {
      method: 'POST',
      body: JSON.stringify(points),
    })
    assert.equal(response.status, 200)
  }
  const read = (from: number, to: number) =>
    rest.call(
      'GET',
      `/api/plugins/telemetry/DEVICE/${deviceId}/values/timeseries?keys=n&startTs=${explicitTime(from)}&endTs=${explicitTime(to)}&limit=100000&orderBy=ASC&useStrictDataTypes=true`,
    )
  const values = async (from: number, to: number): Promise<number[]> => {
    const answer = await read(from, to)
    assert.equal(answer.status, 200, answer.text)
    return (answer.json<{ n?: { value: number }[] }>().n ?? []).map(({ value }) => value)
  }
  await waitFor('the points to be there', async () => (await values(0, total)).length === total)
  await member.stop()

  const file = join(member.process.dataDir, 'time-series', 'chunks.sqlite')
  const database = new DatabaseSync(file)
  const chunks = database
    .prepare('SELECT start_ts, end_ts, data FROM chunk_index JOIN chunk ON chunk.id = chunk ORDER BY start_ts')
    .all()
  database.close()
  assert.ok(chunks.length >= 2, `only ${chunks.length} chunks were made`)
  const chunk = random.pick(chunks)
  const data = chunk['data']
  assert.ok(data instanceof Uint8Array)
  const bit = flipBit(file, data, random)
  await member.restart()

  const valueAt = (column: string): number => (Number(chunk[column]) - explicitTime(0)) / 1000
  const [from, to] = [valueAt('start_ts'), valueAt('end_ts')]
  const range = (start: number, end: number): number[] =>
    Array.from({ length: end - start }, (_, index) => start + index)
  assert.deepEqual(await values(0, from), range(0, from), 'what comes before')
  assert.deepEqual(await values(to + 1, total), range(to + 1, total), 'what comes behind')
  const { status, text } = await read(from, from + 1)
  assert.equal(status, 500, text)
  const named = new RegExp(
    `Stored data is damaged: ${file}, chunk \\d+, entity ${deviceId}, key n, times ${explicitTime(from)} to ${explicitTime(to)}`,
  )
  await waitForLog(member, named)
  assert.equal(await figure(member.process, 'millrace_time_series_damaged_chunks'), 1)

  const deletion = `timeseries/delete?keys=n&startTs=${explicitTime(from)}&endTs=${explicitTime(to) + 1}`
  await rest.expect('DELETE', `/api/plugins/telemetry/DEVICE/${deviceId}/${deletion}`)
  assert.deepEqual(await values(0, total), [...range(0, from), ...range(to + 1, total)], 'once its times are deleted')
  assert.equal(await figure(member.process, 'millrace_time_series_damaged_chunks'), 0)
  context.diagnostic(
    `seed ${random.seed}: byte ${bit.offset} of chunks.sqlite; sent ${total}, acknowledged ${total}, served ${total - (to - from + 1)}, ` +
      `refused ${to - from + 1}, wrong 0`,
  )
})

test('D8: a damaged entity database: the start is refused with its name, and a backup has everything', async (context) => {
  const random = seededRandom()
  const member = await startProcess(context, {})
  const rest = new RestClient(member.process, await login(member.process))
  const names = Array.from({ length: VALUES }, (_, index) => `stored_device_${index + 100}`)
  for (const name of names) await rest.createDevice(name, name)
  await member.stop()

  const file = join(member.process.dataDir, 'entities.sqlite')
  const name = random.pick(names)
  const bit = flipLiveName(file, name, random)
  await assert.rejects(member.restart(), (error: Error) => {
    assert.match(
      error.message,
      /^ended with 1 before it was ready:\nThe entity store in DATA_DIR=\S+ can not be opened: /,
    )
    assert.ok(error.message.includes(`${file} is damaged (`), error.message)
    return true
  })
  bit.restore()
  await member.restart()
  const page = await rest.expect<{ data: readonly { name: string }[] }>(
    'GET',
    '/api/tenant/devices?pageSize=1000&page=0&textSearch=stored_device',
  )
  const found = page.data.map((device) => device.name).sort()
  context.diagnostic(
    `seed ${random.seed}: byte ${bit.offset} of entities.sqlite, restored; sent ${VALUES}, acknowledged ${VALUES}, found ${found.length}, ` +
      `lost ${VALUES - found.length}, duplicated ${found.length - new Set(found).size}`,
  )
  assert.deepEqual(found, names)
})

/** SQLite leaves old copies behind in its pages: the one that counts is the one that SQLite reads, without a word of damage. */
function flipLiveName(file: string, name: string, random: ReturnType<typeof seededRandom>) {
  for (let from = 0; ; from++) {
    from = readFileSync(file).indexOf(name, from)
    const bit = flipBit(file, name, random, from)
    const database = new DatabaseSync(file, { readOnly: true })
    const rows = database.prepare('SELECT name FROM device NOT INDEXED').all()
    database.close()
    if (!rows.some((row) => row['name'] === name)) return bit
    bit.restore()
  }
}

const PARTITIONS = 4
const STREAMS = 2

for (const [title, isKilled] of [
  ['stopped in order: it steps over the damage without a word, and the link tells', false],
  ['killed: it drops what comes behind the damage without a word, and the link tells', true],
] as const) {
  test(`D8: a damaged block of a stream of NATS that was ${title}`, { timeout: 600_000 }, async (context) => {
    if (!requireOwnServer(context, 'nats', 'postgres')) return
    const random = seededRandom()
    const [nats, postgres] = await Promise.all([startNats({ syncInterval: 'always' }), startPostgres()])
    context.after(() => Promise.all([nats.stop(), postgres.stop()]))
    const prepared = await prepare(context, {
      ...natsAndPostgresEnvironment({ nats: nats.url, postgres: postgres.url }),
      TB_QUEUE_RE_MAIN_PARTITIONS: String(PARTITIONS),
      NATS_STREAMS: String(STREAMS),
    })
    const { member, journal } = prepared
    // What PostgreSQL does not take stays in the stream.
    await sendValues(member, journal, 1)
    await found(prepared, 1)
    postgres.pause()
    await sendValues(member, journal, VALUES)
    await member.kill()
    if (isKilled) await nats.kill()
    else await endInOrder(nats.pid)

    const { value, text } = middle(random)
    const stream = streamOf(partitionOf(journal.device.deviceId, PARTITIONS), STREAMS)
    const folder = join(nats.dataDir, 'jetstream', '$G', 'streams', `millrace_S${stream}`, 'msgs')
    const block = readdirSync(folder).find(
      (name) => name.endsWith('.blk') && readFileSync(join(folder, name)).includes(text),
    )
    const { offset } = flipBit(join(folder, block ?? ''), text, random)
    postgres.resume()
    await nats.restart()
    await member.restart()

    const lost = isKilled ? VALUES + 1 - value + 1 : 1
    const verdict = await found(prepared, VALUES + 1 - lost)
    report(context, random, `byte ${offset} of a block of NATS`, verdict)
    assert.equal(verdict.findings[0], `lost: ${journal.device.name} value ${value} was acknowledged and is not there`)
    const { duplicated, outOfOrder, foreign } = verdict
    assert.deepEqual([verdict.lost, duplicated, outOfOrder, foreign], [lost, 0, 0, 0])
    const told = isKilled
      ? `"bytes":\\d+,"stream":${stream},"msg":"link: frames-dropped"`
      : `"from":\\d+,"to":\\d+,"frames":1,"stream":${stream},"msg":"link: frames-missing"`
    await waitForLog(member, new RegExp(`"level":"error".*${told}`))
    assert.ok((await figure(member.process, 'millrace_link_stream_damages_total')) >= 1)
    await sendValues(member, journal, 5)
    await found(prepared, VALUES + 6 - lost)
  })
}

async function endInOrder(pid: number): Promise<void> {
  process.kill(pid, 'SIGTERM')
  await waitFor('NATS to end', () => !isAlive(pid))
}
