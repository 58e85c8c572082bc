/**
 * One process under devices that send again with DUP, whose every run is logged: killed and cut off again and again, then settled,
 * killed once more, and held against the rules of the log. History can not show this: it is sorted by its stamps, and what runs twice
 * overwrites itself.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { DEMO_SYSADMIN, RestClient, login } from '../support/clients.ts'
import { PLANTED_PRELOAD, type PlantedBug } from '../support/planted/index.ts'
import { RUN_LOG_NODE, RUN_LOG_PRELOAD, RunJudge, RunLog, type RunVerdict } from '../support/run-log/index.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import { explicitTime } from './campaign/journal.ts'
import { Member } from './campaign/member.ts'
import { drained } from './fault-run.ts'
import { ResendingDevice } from './resending-device.ts'

export interface OrderSettings {
  readonly random: SeededRandom
  readonly rounds: number
  readonly devices?: number
  /** One message of a device at a time, its retries included. */
  readonly isStrict?: boolean
  readonly bug?: PlantedBug
}

export interface OrderReport extends RunVerdict {
  readonly acknowledged: number
  readonly resends: number
  /** Acknowledged and never run, or run and not stored. */
  readonly lost: number
}

/**
 * Every so many-th value fails at its first try, so that messages wait behind it: early and often enough for a slow machine, and later
 * not so often that a fast one waits for long.
 */
const FAILING = { failEach: 41, failUpTo: 500, failEachLater: 397 }
/** Acknowledged of all devices in each round. */
export const FEWEST_A_ROUND = 100
const LIMIT_MS = 120_000
const MAX_FINDINGS = 10
/** Some failed values of each device in which a planted bug must show itself, without kills. */
const LIVES_ON_MS = 20_000

export async function runOrderAndDoubles(settings: OrderSettings): Promise<OrderReport> {
  const { bug, isStrict = false } = settings
  const folder = await mkdtemp(join(tmpdir(), 'millrace-runs-'))
  const log = new RunLog(join(folder, 'runs'))
  const devices: ResendingDevice[] = []
  const environment = { RUN_LOG: log.file, PLANTED_BUG: bug?.name ?? '' }
  const preload = [RUN_LOG_PRELOAD, ...(bug === undefined ? [] : [PLANTED_PRELOAD])]
  const member = await Member.start({ name: 'process', environment, preload })
  try {
    if (isStrict) await makeStrict(member)
    devices.push(...(await openDevices(member, settings.devices ?? 6)))
    const judge = new RunJudge({ timesSent: (id, value) => timesSent(devices, id, value), isStrict })
    const isFound = (): boolean => {
      judge.take(log.next())
      return judge.verdict().findings.length > 0
    }
    await breakAgainAndAgain(member, devices, settings, isFound)
    if (bug !== undefined) await liveOn(isFound)
    // What is found by now is proof enough: a planted bug may keep messages from being settled at all.
    if (isFound()) return reportOf(devices, judge, [])
    await settleDurably(member, devices)
    judge.take(log.next())
    judge.settled()
    await member.kill()
    await member.restart()
    await Promise.all(devices.map((device) => device.sendOne()))
    await drained(member.process)
    judge.take(log.next())
    return reportOf(devices, judge, await lostOf(member, devices, judge))
  } finally {
    for (const device of devices) device.close()
    await member.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function breakAgainAndAgain(
  member: Member,
  devices: readonly ResendingDevice[],
  settings: OrderSettings,
  isFound: () => boolean,
): Promise<void> {
  const { random, rounds, bug } = settings
  for (let round = 1; round <= rounds; round++) {
    for (let cuts = random.between(1, 4); cuts > 0; cuts--) {
      await delay(random.between(20, 250))
      random.pick(devices).cut()
    }
    await delay(random.between(50, 400))
    // A slow machine has a longer round, not an empty one. Behind a planted bug there may be nothing to wait for.
    if (bug === undefined) await whenSoMany(devices, round * FEWEST_A_ROUND)
    await member.kill()
    await member.restart()
    await whenAllAcknowledge(devices)
    if (bug !== undefined && isFound()) return
  }
}

/** What waits behind a failed value for the whole pause before its retry: a kill in between hides what happens to it. */
async function liveOn(isFound: () => boolean): Promise<void> {
  const deadline = performance.now() + LIVES_ON_MS
  while (!isFound() && performance.now() < deadline) await delay(250)
}

async function whenSoMany(devices: readonly ResendingDevice[], acknowledged: number): Promise<void> {
  const deadline = performance.now() + LIMIT_MS
  while (acknowledgedOf(devices) < acknowledged) {
    if (performance.now() > deadline) throw new Error(`only ${acknowledgedOf(devices)} were acknowledged`)
    await delay(10)
  }
}

function acknowledgedOf(devices: readonly ResendingDevice[]): number {
  return devices.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0)
}

/** Each device has something new acknowledged: it is connected again. */
async function whenAllAcknowledge(devices: readonly ResendingDevice[]): Promise<void> {
  const before = devices.map(({ acknowledged }) => acknowledged.size)
  const deadline = performance.now() + LIMIT_MS
  while (devices.some(({ acknowledged }, index) => acknowledged.size === before[index])) {
    if (performance.now() > deadline)
      throw new Error(`a device had nothing acknowledged within ${LIMIT_MS} ms of a restart`)
    await delay(10)
  }
}

/** A settle is written with the next frame: once that is acknowledged, everything settled before it is durable. */
async function settleDurably(member: Member, devices: readonly ResendingDevice[]): Promise<void> {
  await Promise.all(devices.map((device) => device.settle()))
  await drained(member.process)
  await devices[0]?.sendOne()
  await drained(member.process)
  await devices[0]?.sendOne()
  await drained(member.process)
}

function reportOf(devices: readonly ResendingDevice[], judge: RunJudge, lost: readonly string[]): OrderReport {
  const verdict = judge.verdict()
  return {
    ...verdict,
    findings: [...verdict.findings, ...lost.slice(0, MAX_FINDINGS)],
    lost: lost.length,
    acknowledged: acknowledgedOf(devices),
    resends: devices.reduce((sum, { resends }) => sum + resends, 0),
  }
}

async function lostOf(member: Member, devices: readonly ResendingDevice[], judge: RunJudge): Promise<string[]> {
  const rest = new RestClient(member.process, await login(member.process))
  const lost: string[] = []
  for (const device of devices) {
    const stored = await storedOf(rest, device)
    for (const value of device.acknowledged) {
      const hasRun = judge.has(device.deviceId, value)
      if (hasRun && stored.has(value)) continue
      const what = hasRun ? 'ran and is not stored' : 'never ran'
      lost.push(`lost: value ${value} of ${device.deviceId} was acknowledged and ${what}`)
    }
  }
  return lost
}

async function storedOf(rest: RestClient, { deviceId }: ResendingDevice): Promise<ReadonlySet<number>> {
  const range = 'startTs=0&endTs=9999999999999&limit=1000000&useStrictDataTypes=true'
  const path = `/api/plugins/telemetry/DEVICE/${deviceId}/values/timeseries?keys=n&${range}`
  const { n = [] } = await rest.expect<{ n?: readonly { readonly value: number }[] }>('GET', path)
  return new Set(n.map(({ value }) => value))
}

function timesSent(devices: readonly ResendingDevice[], deviceId: string, value: number): number {
  return devices.find((device) => device.deviceId === deviceId)?.timesSent(value) ?? 0
}

async function openDevices(member: Member, count: number): Promise<ResendingDevice[]> {
  const rest = new RestClient(member.process, await login(member.process))
  await drawLoggedChain(rest)
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const deviceId = await rest.createDevice(`resends ${index}`, `RESENDS_${index}`)
      return new ResendingDevice({
        deviceId,
        token: `RESENDS_${index}`,
        port: member.address.mqttPort,
        bodyOf: (value) => JSON.stringify({ ts: explicitTime(value), values: { n: value } }),
      })
    }),
  )
}

async function drawLoggedChain(rest: RestClient): Promise<void> {
  const { id } = await rest.expect<{ id: { id: string } }>('POST', '/api/ruleChain', { name: 'logged' })
  await rest.expect('POST', '/api/ruleChain/metadata', {
    ruleChainId: { entityType: 'RULE_CHAIN', id: id.id },
    firstNodeIndex: 0,
    nodes: [
      { type: RUN_LOG_NODE, name: 'run log', configuration: FAILING },
      {
        type: 'org.thingsboard.rule.engine.telemetry.TbMsgTimeseriesNode',
        name: 'save',
        configurationVersion: 1,
        configuration: { defaultTTL: 0, useServerTs: false, processingSettings: { type: 'ON_EVERY_MESSAGE' } },
      },
    ],
    connections: [{ fromIndex: 0, toIndex: 1, type: 'Success' }],
  })
  await rest.expect('POST', `/api/ruleChain/${id.id}/root`)
}

async function makeStrict(member: Member): Promise<void> {
  const rest = new RestClient(member.process, await login(member.process, DEMO_SYSADMIN))
  const main = await rest.expect<{ readonly submitStrategy: object }>('GET', '/api/queues/name/Main')
  const submitStrategy = { ...main.submitStrategy, type: 'SEQUENTIAL_BY_ORIGINATOR' }
  await rest.expect('POST', '/api/queues?serviceType=TB-RULE-ENGINE', { ...main, submitStrategy })
}
