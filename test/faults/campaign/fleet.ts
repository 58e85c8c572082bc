/** The devices of a world, its rule chain, and reading back what a user of the API sees of them. */
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

  /** Sets up the chain and the device that misuses it. */
  static async open(world: World): Promise<Fleet> {
    const rest = new RestClient(world.api.process, await login(world.api.process))
    await replaceRootChain(rest, 'by way of a script', { isLogged: world.runLog !== undefined })
    await rest.createDevice('glutton', GLUTTON_TOKEN)
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
    const keys = device.isBare === true ? 'n' : 'n,text'
    const history = await this.#rest.expect<{ n?: ReadPoint[]; text?: ReadPoint<string>[] }>(
      'GET',
      `${path}?keys=${keys}&${ALL_TIMES}&limit=1000000&orderBy=ASC`,
    )
    const latest = await this.#rest.expect<{ n?: ReadPoint<number | null>[] }>(
      'GET',
      `${path}?keys=n&useStrictDataTypes=true`,
    )
    return { n: history.n ?? [], text: history.text ?? [], latest: pointOf(latest.n?.[0]) }
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
