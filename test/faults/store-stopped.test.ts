/**
 * The production shape with a store that answers nothing for a while, under more than the stream may hold: what waits is bounded in
 * memory and on disk, senders are refused for as long as it lasts, and then all that was acknowledged is there.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { requireOwnServer } from '../support/servers/index.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { Fleet } from './campaign/fleet.ts'
import { bodyOf, type Journal } from './campaign/journal.ts'
import { openProductionWorld } from './campaign/production-world.ts'
import { readBack } from './campaign/reading.ts'
import { judge } from './campaign/verdict.ts'
import type { World } from './campaign/world.ts'

const DEVICES = 32
const FEWEST_REFUSALS = 200
/** Beside what a process takes anyway: of what waits, a process holds positions and a bounded number of messages. */
const MAX_GROWTH_MIB = 300
/** Two partitions of 16 MiB hold some 1,600 of these. */
const PADDING = 'x'.repeat(20_000)

test(
  'B1: QuestDB stopped under a burst: memory is bounded, senders are refused, nothing acknowledged is lost',
  { timeout: 600_000 },
  async (context) => {
    if (!requireOwnServer(context, 'nats', 'postgres', 'questdb')) return
    const { seed } = seededRandom()
    // What is kept to be read again has room beside the partitions.
    const environment = { NATS_MAX_PARTITION_MIB: '16', TB_QUEUE_RE_MAIN_PARTITIONS: '2', LINK_RETENTION_MIB: '16' }
    const world = await openProductionWorld({ shape: 'production', seed, environment })
    context.after(() => world.close())
    const fleet = await Fleet.open(world)
    const journals = await fleet.devices(DEVICES)
    const [questdb] = world.servers.questdb
    assert.ok(questdb !== undefined)

    const stop = new AbortController()
    const senders = journals.map((journal, index) => send(world, journal, index, stop.signal))
    await until(() => journals.every((journal) => journal.count('acknowledged') > 0), 'the load is under way')
    const before = memoryOf(world)
    questdb.pause()
    await until(() => refusals(journals) >= FEWEST_REFUSALS, 'senders are refused')
    const during = memoryOf(world)
    questdb.resume()
    const resumedAt = performance.now()
    const isTakenAgain = (journal: Journal): boolean => journal.firstAcknowledgementSince(resumedAt) !== undefined
    await until(() => journals.every(isTakenAgain), 'every device is taken again')
    const recoveredMs = Math.round(performance.now() - resumedAt)
    stop.abort()
    await Promise.all(senders)

    const { findings, ...figures } = judge(await readBack(fleet, journals, 90_000))
    const growth = Math.round(Math.max(...during.map((bytes, index) => bytes - (before[index] ?? 0))) / 2 ** 20)
    context.diagnostic(
      `seed ${seed}: sent ${figures.sent}, acknowledged ${figures.acknowledged}, refused ${figures.refused}, found ${figures.found}, ` +
        `lost ${figures.lost}, most memory beside before ${growth} MiB, taken again ${recoveredMs} ms after QuestDB went on`,
    )
    assert.deepEqual(findings, [])
    assert.ok(growth < MAX_GROWTH_MIB, `a process grew by ${growth} MiB while the store was stopped`)
  },
)

async function send(world: World, journal: Journal, index: number, stop: AbortSignal): Promise<void> {
  const transport = world.transports[index % world.transports.length]
  assert.ok(transport !== undefined)
  while (!stop.aborted) {
    const value = journal.take()
    const body = bodyOf(journal.device, value.value).replace('{"n"', `{"padding":"${PADDING}","n"`)
    const response = await fetch(`${transport.address.url}/api/v1/${journal.device.token}/telemetry`, {
      method: 'POST',
      body,
    })
    await response.arrayBuffer()
    if (response.status === 200) {
      journal.acknowledge(value)
      continue
    }
    assert.equal(response.status, 503, 'a refusal that says to come back')
    value.outcome = 'refused'
    await delay(100)
  }
}

function refusals(journals: readonly Journal[]): number {
  return journals.reduce((sum, journal) => sum + journal.count('refused'), 0)
}

/** Resident bytes of every Millrace process. */
function memoryOf(world: World): number[] {
  return world.members.map(({ process: running }) => {
    const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', String(running.pid)], { encoding: 'utf8' })
    return Number(stdout) * 1024
  })
}

async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 180_000
  while (!condition()) {
    assert.ok(performance.now() < deadline, `not within 180 s: ${what}`)
    await delay(50)
  }
}
