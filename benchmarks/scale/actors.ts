/**
 * What a device is to the engine while it has no socket: its credentials in the cache, its record, its actor. As many devices as argv[2] says
 * are heard once; prints bytes of the heap after a full collection, before and after, as one line of JSON. Needs `--expose-gc`.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { createActorSystem } from '../../engine/actor/system.ts'
import { localDeviceLine } from '../../engine/device/announcement.ts'
import { createDeviceGateway } from '../../engine/device/device-gateway.ts'
import { soleOwner } from '../../engine/device/partition-owners.ts'
import type { Link } from '../../engine/link/link.ts'
import { InProcessChangeFeed } from '../../engine/subscriptions/change-feed.ts'
import { systemClock, systemRandom } from '../../model/system-clock.ts'

export interface ActorsResult {
  readonly devices: number
  readonly heapBytes: number
  readonly bytesPerDevice: number
}

const { devices } = JSON.parse(process.argv[2] ?? '{}') as { readonly devices: number }
const AT_ONCE = 1000
const fail = (error: unknown): void => {
  throw new Error('an actor failed', { cause: error })
}

/** Stores nothing, at once. */
const link: Pick<Link, 'publish' | 'writable' | 'hasRoomFor' | 'onWritable'> = {
  publish: (_, receipt) => receipt.stored(),
  writable: true,
  hasRoomFor: () => true,
  onWritable: () => () => undefined,
}
const newDevice = (token: string) => ({
  deviceId: systemRandom.uuid(),
  tenantId: '10000000-0000-4000-8000-000000000001',
  customerId: null,
  deviceName: `device ${token}`,
  deviceType: 'default',
  deviceProfileId: '10000000-0000-4000-8000-000000000002',
  ruleChainId: null,
})
const gateway = createDeviceGateway({
  link,
  directory: {
    // A new object with texts of its own for each, as a store answers.
    findCredentialsChanged: () => Promise.resolve([]),
    findByCredentials: (tokens) => Promise.resolve(new Map(tokens.map((token) => [token, newDevice(token)]))),
  },
  line: localDeviceLine('self'),
  owners: soleOwner('self'),
  attributes: { find: () => Promise.resolve({ value: [] }) },
  feed: new InProcessChangeFeed(fail),
  clock: systemClock,
  random: systemRandom,
  actors: createActorSystem({ clock: systemClock, random: systemRandom, onError: fail }),
})

async function hear(number: number): Promise<void> {
  const device = await gateway.authenticate({ type: 'ACCESS_TOKEN', token: `SCALE_${number}` })
  if (device === undefined) throw new Error('nobody')
  const session = gateway.openSession(device, 'brief', {
    sharedAttributesChanged: () => undefined,
    closed: () => undefined,
  })
  const entries = [{ key: 'temperature', type: 'LONG', value: number }] as const
  session.postTelemetry([{ ts: undefined, entries }], { stored: () => undefined, refused: fail })
  session.close()
}

async function heapBytes(): Promise<number> {
  await delay(500)
  const { gc } = globalThis
  if (gc === undefined) throw new Error('needs --expose-gc')
  await gc({ type: 'major', execution: 'async' })
  return process.memoryUsage().heapUsed
}

for (let number = 0; number < AT_ONCE; number++) await hear(number) // Code is compiled, maps are there.
const before = await heapBytes()
for (let first = AT_ONCE; first < devices + AT_ONCE; first += AT_ONCE) {
  await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => hear(first + index)))
}
const grown = (await heapBytes()) - before
const figures = gateway.figures()
if (figures.devices < devices) throw new Error(`only ${figures.devices} devices are there`)
const result: ActorsResult = { devices, heapBytes: grown, bytesPerDevice: Math.round(grown / devices) }
process.stdout.write(`${JSON.stringify(result)}\n`)
process.exit(0)
