/** The devices of a world, its rule chain, and reading back what a user of the API sees of them. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { RestClient, login } from '../../support/clients.ts'
import { replaceRootChain } from './chain-faults.ts'
import { Journal, type DeviceIdentity } from './journal.ts'
import { GLUTTON_TOKEN } from './resource-faults.ts'
import type { ReadPoint, ReadSeries } from './verdict.ts'
import type { World } from './world.ts'

const PROTOCOLS = ['MQTT 3.1.1', 'HTTP', 'MQTT 5', 'HTTP'] as const

export class Fleet {
  readonly #rest: RestClient
  #made = 0

  private constructor(rest: RestClient) {
    this.#rest = rest
  }

  /** Sets up the chain and the device that misuses it. The chain logs runs and makes children, where the world has a log of runs. */
  static async open(world: World, { isLogged = world.runLog !== undefined } = {}): Promise<Fleet> {
    const rest = new RestClient(world.api.process, await login(world.api.process))
    await replaceRootChain(rest, 'by way of a script', { isLogged })
    await rest.createDevice('glutton', GLUTTON_TOKEN)
    if (isLogged) await whenAllRunTheChain(world, rest)
    return new Fleet(rest)
  }

  /** Half of them over MQTT, half over HTTP; half with times of their own. */
  async devices(count: number): Promise<Journal[]> {
    return this.#make(count, (index) => ({
      protocol: PROTOCOLS[index % PROTOCOLS.length] ?? 'HTTP',
      explicitTimes: index % 8 < 4,
    }))
  }

  /** For a background load: all over MQTT, half with times of their own, numbers alone. */
  async pacedDevices(count: number): Promise<Journal[]> {
    return this.#make(count, (index) => ({ protocol: 'MQTT 3.1.1', explicitTimes: index % 2 === 0, isBare: true }))
  }

  #make(count: number, kindOf: (index: number) => DeviceKind): Promise<Journal[]> {
    return Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const name = `device ${++this.#made}`
        const token = name.replace(' ', '_').toUpperCase()
        const device = { name, token, deviceId: await this.#rest.createDevice(name, token), ...kindOf(index) }
        return new Journal(device)
      }),
    )
  }

  /** The value with the newest time; 0 when there is none. Throws when the API does not answer. */
  async newest({ device }: Journal): Promise<number> {
    const { n } = await this.#rest.expect<{ n?: ReadPoint[] }>(
      'GET',
      `${pathOf(device)}?keys=n&${ALL_TIMES}&limit=1&orderBy=DESC`,
    )
    return n?.[0]?.value ?? 0
  }

  /** All that is stored of a device now. Throws when the API does not answer. */
  async series({ device }: Journal): Promise<ReadSeries> {
    const path = pathOf(device)
    const read = (keys: string) =>
      this.#rest.expect<{ n?: ReadPoint[]; text?: ReadPoint<string>[] }>(
        'GET',
        `${path}?keys=${keys}&${ALL_TIMES}&limit=1000000&orderBy=ASC`,
      )
    const { n = [], text = [] } = await read(device.isBare === true ? 'n' : 'n,text')
    // The keys of an answer are read side by side: what becomes readable meanwhile may be in one of them alone.
    const isShort = device.isBare !== true && text.length < n.length
    const texts = isShort ? ((await read('text')).text ?? []) : text
    const latest = await this.#rest.expect<{ n?: ReadPoint<number | null>[] }>(
      'GET',
      `${path}?keys=n&useStrictDataTypes=true`,
    )
    return { n, text: texts, latest: pointOf(latest.n?.[0]) }
  }
}

/** So many that each partition has one of them, by all odds. */
const PROBES = 40
const PROBES_WITHIN_MS = 60_000

/**
 * Engines hear of a new root chain one after the other. What one of them gets before that runs in the chain before, where no log sees it,
 * and may run again after a fault, behind others.
 */
async function whenAllRunTheChain(world: World, rest: RestClient): Promise<void> {
  const [transport] = world.transports
  if (world.runLog === undefined || transport === undefined) return
  const waiting = new Map<string, string>()
  for (let index = 0; index < PROBES; index++) {
    const token = `PROBE_${index}`
    waiting.set(await rest.createDevice(`probe ${index}`, token), token)
  }
  const deadline = performance.now() + PROBES_WITHIN_MS
  for (let value = 1; waiting.size > 0; value++) {
    assert.ok(performance.now() < deadline, `the chain does not run for ${waiting.size} of ${PROBES} devices`)
    const body = JSON.stringify({ n: value })
    const url = `${transport.address.url}/api/v1`
    await Promise.all(
      [...waiting.values()].map((token) => fetch(`${url}/${token}/telemetry`, { method: 'POST', body })),
    )
    await delay(200)
    for (const { deviceId } of world.runLog.next()) waiting.delete(deviceId)
  }
}

type DeviceKind = Omit<DeviceIdentity, 'name' | 'token' | 'deviceId'>

const ALL_TIMES = 'startTs=0&endTs=9999999999999&useStrictDataTypes=true'

function pathOf({ deviceId }: DeviceIdentity): string {
  return `/api/plugins/telemetry/DEVICE/${deviceId}/values/timeseries`
}

/** A key that has no value yet is answered with null. */
function pointOf(point: ReadPoint<number | null> | undefined): ReadPoint | undefined {
  return point === undefined || point.value === null ? undefined : { ts: point.ts, value: point.value }
}
