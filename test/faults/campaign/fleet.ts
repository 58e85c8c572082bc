/** The devices of a world, its rule chain, and reading back what a user of the API sees of them. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { RestClient, login } from '../../support/clients.ts'
import { replaceRootChain } from './chain-faults.ts'
import { Journal, type DeviceIdentity } from './journal.ts'
import { GLUTTON_TOKEN } from './resource-faults.ts'
import type { ReadPoint, ReadSeries } from './verdict.ts'
import type { World } from './world.ts'

/** Values in a message: of a chatty device, of what was buffered for a while, and of what a gateway sends for many. */
const PACK_SIZES = [5, 50, 100, 200, 300, 500] as const
/** Of background devices one in so many sends its values one by one. */
const SINGLES_EACH = 4
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

  /** For a background load: all over MQTT, numbers alone; three of four send packs, of the others half have times of their own. */
  async pacedDevices(count: number): Promise<Journal[]> {
    return this.#make(count, (index) => ({ protocol: 'MQTT 3.1.1', isBare: true, ...pacedKindOf(index) }))
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
    const n = await this.#history<number>(path, 'n')
    // After the numbers: what becomes readable meanwhile has its text.
    const text = device.isBare === true ? [] : await this.#history<string>(path, 'text')
    const latest = await this.#rest.expect<{ n?: ReadPoint<number | null>[] }>(
      'GET',
      `${path}?keys=n&useStrictDataTypes=true`,
    )
    return { n, text, latest: pointOf(latest.n?.[0]) }
  }

  /** By pages: of a long round an answer of its own would hold up everybody else's. */
  async #history<Value>(path: string, key: string): Promise<ReadPoint<Value>[]> {
    const points: ReadPoint<Value>[] = []
    for (let startTs = 0; ;) {
      const query = `keys=${key}&startTs=${startTs}&${UNTIL_THE_END}&limit=${PAGE_POINTS}&orderBy=ASC`
      const answer = await this.#rest.expect<Readonly<Record<string, ReadPoint<Value>[]>>>('GET', `${path}?${query}`)
      const page = answer[key] ?? []
      points.push(...page)
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE_POINTS) return points
      startTs = last.ts + 1
    }
  }
}

/** So many that each partition has one of them, by all odds. */
const PROBES = 40
const PROBES_WITHIN_MS = 180_000

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

function pacedKindOf(index: number): Pick<DeviceKind, 'explicitTimes' | 'packSize'> {
  const group = Math.floor(index / SINGLES_EACH)
  const place = index % SINGLES_EACH
  if (place === 0) return { explicitTimes: group % 2 === 0 }
  return {
    explicitTimes: true,
    packSize: PACK_SIZES[(group * (SINGLES_EACH - 1) + place - 1) % PACK_SIZES.length] ?? 1,
  }
}

type DeviceKind = Omit<DeviceIdentity, 'name' | 'token' | 'deviceId'>

const UNTIL_THE_END = 'endTs=9999999999999&useStrictDataTypes=true'
const ALL_TIMES = `startTs=0&${UNTIL_THE_END}`
const PAGE_POINTS = 10_000

function pathOf({ deviceId }: DeviceIdentity): string {
  return `/api/plugins/telemetry/DEVICE/${deviceId}/values/timeseries`
}

/** A key that has no value yet is answered with null. */
function pointOf(point: ReadPoint<number | null> | undefined): ReadPoint | undefined {
  return point === undefined || point.value === null ? undefined : { ts: point.ts, value: point.value }
}
