/**
 * O5 on the real engine: chains, services and stores of both shapes, over a link that delivers everything twice. What is stored must be what
 * one delivery in order leaves behind, by a model of a few lines.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { NO_LANES } from '../../engine/parking/control.ts'
import { Closing } from '../../compose/closing.ts'
import { openCluster } from '../../compose/cluster.ts'
import { startEngine } from '../../compose/engine.ts'
import { openScripting } from '../../compose/scripts.ts'
import { openStores } from '../../compose/stores.ts'
import { readConfig } from '../../config/read.ts'
import { createActorSystem } from '../../engine/actor/system.ts'
import type { Link } from '../../engine/link/link.ts'
import type { LogPosition } from '../../engine/link/link.ts'
import type { StreamWatcher } from '../../engine/link/options.ts'
import { REPETITIONS, TwiceLink, type Repetition } from '../simulation/twice-link.ts'
import { createLog } from '../../logging/log.ts'
import { Message } from '../../model/message.ts'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import { openOutbound } from '../../compose/outbound.ts'
import { catalogue } from '../../nodes/catalogue.ts'
import { createServices } from '../../services/create-services.ts'
import { testSecrets } from '../../services/testkit.ts'
import { DEMO_LOGINS, seedDemo } from '../../services/seed.ts'
import type { Services } from '../../services/services.ts'
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts'
import { requireServer } from '../support/servers/index.ts'
import { startProductionServers, type ProductionServers } from '../support/start-cluster.ts'

const DEVICES = 4
const MESSAGES = 400
const KEYS = ['temperature', 'state', 'produced']

/** Of one device: texts by key and time, by key, and by key. */
interface State {
  readonly series: Record<string, Record<string, string>>
  readonly latest: Record<string, string>
  readonly attributes: Record<string, string>
}

interface Platform {
  readonly services: Services
  readonly link: Link
  readonly twice: TwiceLink
  readonly tenantId: string
}

let starting: Promise<ProductionServers> | undefined
after(async () => (await starting)?.stop())

for (const repetition of REPETITIONS) {
  test(`O5: each ${repetition} delivered twice leaves what one delivery leaves, embedded`, async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-redelivery-'))
    context.after(() => rm(folder, { recursive: true, force: true }))
    await holds(context, repetition, { DATA_DIR: folder })
  })

  test(`O5: each ${repetition} delivered twice leaves what one delivery leaves, in production's shape`, async (context) => {
    if (!requireServer(context, 'nats', 'postgres', 'questdb')) return
    const servers = await (starting ??= startProductionServers())
    await holds(context, repetition, servers.environment)
  })
}

async function holds(
  context: TestContext,
  repetition: Repetition,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const random = seededRandom()
  const closing = new Closing(createLog('silent'))
  try {
    const platform = await openPlatform(environment, repetition, closing)
    const devices = Array.from({ length: DEVICES }, () => randomUUID())
    const messages = makeMessages(platform.tenantId, devices, random, timesFor(repetition, random))
    await publishAll(platform.link, messages)
    const deadline = performance.now() + 180_000
    while (platform.twice.ended < MESSAGES) {
      assert.ok(performance.now() < deadline, `${platform.twice.ended} of ${MESSAGES} have ended`)
      await delay(20)
    }
    let points = 0
    for (const device of devices) {
      const expected = afterOneDelivery(messages.filter(({ originator }) => originator.id === device))
      points += Object.values(expected.series).reduce((sum, series) => sum + Object.keys(series).length, 0)
      assert.deepEqual(await read(platform.services, device), expected, `repeat with SEED=${random.seed}`)
    }
    assert.equal(platform.twice.delivered, 2 * MESSAGES)
    context.diagnostic(
      `seed ${random.seed}: sent ${MESSAGES}, acknowledged ${MESSAGES}, delivered ${platform.twice.delivered}, lost 0, duplicated 0; ` +
        `${points} points, latest values and attributes as after one delivery`,
    )
  } finally {
    await closing.run()
  }
}

async function openPlatform(
  environment: Readonly<Record<string, string>>,
  repetition: Repetition,
  closing: Closing,
): Promise<Platform> {
  const config = readConfig(environment)
  const log = createLog('silent')
  const cluster = await openCluster(config, log, closing)
  const opened = await openStores(config, log, closing, cluster, (error) => assert.ifError(error))
  const twice = new TwiceLink(opened.link, repetition)
  const stores = {
    ...opened,
    link: Object.assign(twice, {
      deadLetters: opened.link.deadLetters,
      letters: opened.link.letters,
      watch: (watcher: StreamWatcher) => opened.link.watch(watcher),
      // Its messages come twice: none is settled for good.
      settledBelow: () => 0,
      streams: opened.link.streams,
      read: (from: LogPosition) => opened.link.read(from),
      checkFits: (message: Message) => opened.link.checkFits(message),
    }),
  }
  const { entities, timeSeries } = stores
  const { scripts } = openScripting(config, closing)
  const services = createServices({
    ...testSecrets(),
    entities,
    timeSeries,
    feed: cluster.feed,
    link: stores.link,
    deadLetters: stores.link.deadLetters,
    parked: NO_LANES,
    clock: systemClock,
    random: systemRandom,
    catalogue,
    scripts,
    // What is read is what is stored.
    attributeCacheBytes: 0,
    report: (text) => assert.fail(text),
  })
  closing.add('services', () => services.close())
  await seedDemo({ entities, clock: systemClock, random: systemRandom, catalogue })
  const actors = createActorSystem({ clock: systemClock, onError: ({ error }) => assert.ifError(error) })
  closing.add('actors', () => actors.close())
  const devices = { delivered: () => undefined, report: () => false }
  await startEngine({
    config,
    scripts,
    log,
    closing,
    cluster,
    stores,
    services,
    catalogue,
    outbound: openOutbound(config),
    feed: cluster.feed,
    actors,
    devices,
    parking: undefined,
  })
  const user = await entities.users.findByEmail(DEMO_LOGINS.tenantAdministrator.email)
  return { services, link: opened.link, twice, tenantId: user?.tenantId ?? '' }
}

/**
 * Newer messages carry older times, and where they can, points meet at one time: where a pack comes backwards, the oldest would be the last
 * to write the history of that time, which is the documented limit of every store here.
 */
function timesFor(repetition: Repetition, random: SeededRandom): readonly number[] {
  const count = repetition === 'pack backwards' ? MESSAGES : 12
  const chances = Array.from({ length: count }, (_, index) => ({
    ts: 1_700_000_000_000 + index * 1000,
    by: random.next(),
  }))
  const shuffled = chances.sort((one, other) => one.by - other.by).map(({ ts }) => ts)
  return Array.from({ length: MESSAGES }, (_, index) => shuffled[index % count] ?? 0)
}

/** Telemetry with a counter that only rises, and attributes with one that only falls, from each device by chance. */
function makeMessages(
  tenantId: string,
  devices: readonly string[],
  random: SeededRandom,
  times: readonly number[],
): Message[] {
  return Array.from({ length: MESSAGES }, (_, index) => {
    const isTelemetry = random.next() < 0.7
    const body = isTelemetry
      ? { [random.pick(KEYS)]: random.pick([index, index + 0.5, `text ${index}`, index % 2 === 0]), counter: index }
      : { counter: MESSAGES - index, [random.pick(['firmware', 'limit'])]: `of ${index}` }
    return new Message({
      id: randomUUID(),
      ts: systemClock.now() + index,
      type: isTelemetry ? 'POST_TELEMETRY_REQUEST' : 'POST_ATTRIBUTES_REQUEST',
      tenantId,
      originator: { entityType: 'DEVICE', id: random.pick(devices) },
      metadata: { deviceName: 'a device', deviceType: 'default', ts: String(times[index]) },
      data: JSON.stringify(body),
    })
  })
}

async function publishAll(link: Link, messages: readonly Message[]): Promise<void> {
  await Promise.all(
    messages.map(
      (message) =>
        new Promise<void>((resolve, reject) => link.publish(message, { stored: () => resolve(), refused: reject })),
    ),
  )
}

function afterOneDelivery(messages: readonly Message[]): State {
  const series: Record<string, Record<string, string>> = {}
  const latest: Record<string, { ts: number; text: string }> = {}
  const attributes: Record<string, string> = {}
  for (const { type, data, metadata } of messages) {
    for (const [key, value] of Object.entries(JSON.parse(data) as Record<string, unknown>)) {
      if (type === 'POST_ATTRIBUTES_REQUEST') {
        attributes[key] = String(value)
        continue
      }
      const ts = Number(metadata['ts'])
      ;(series[key] ??= {})[ts] = String(value)
      if (latest[key] === undefined || ts >= latest[key].ts) latest[key] = { ts, text: String(value) }
    }
  }
  const texts = Object.entries(latest).map(([key, { ts, text }]) => [key, `${text} at ${ts}`] as const)
  return { series, latest: Object.fromEntries(texts), attributes }
}

async function read({ telemetry, attributes }: Services, id: string): Promise<State> {
  const entity = { entityType: 'DEVICE', id } as const
  const keys = [...KEYS, 'counter']
  const history = await telemetry.history(entity, { keys, startTs: 0, endTs: 2_000_000_000_000, limit: 10_000 })
  const latest = await telemetry.latest(entity, undefined)
  const found = await attributes.find(entity, 'CLIENT_SCOPE', undefined)
  const series = [...history.value].filter(([, points]) => points.length > 0)
  return {
    series: Object.fromEntries(
      series.map(([key, points]) => {
        assert.equal(new Set(points.map(({ ts }) => ts)).size, points.length, `${key} has two points at one time`)
        return [key, Object.fromEntries(points.map(({ ts, value }) => [ts, String(value)]))]
      }),
    ),
    latest: Object.fromEntries(latest.value.map(({ key, value, ts }) => [key, `${String(value)} at ${ts}`])),
    attributes: Object.fromEntries(found.value.map(({ key, value }) => [key, String(value)])),
  }
}
