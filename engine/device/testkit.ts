/** For tests of the device room: a gateway over a link, a directory and attributes that the test decides. */
import type { MillraceError } from '../../model/errors.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { Message } from '../../model/message.ts'
import type { Attribute, AttributeScope, Entry } from '../../model/value.ts'
import { createActorSystem, type ActorSystem } from '../actor/system.ts'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import type { Delivery, Link, LinkConsumer, PublishReceipt } from '../link/link.ts'
import type { AttributesSave } from '../rulechain/capabilities/attributes.ts'
import { TestFeed } from '../subscriptions/testkit.ts'
import { localDeviceLine } from './announcement.ts'
import {
  DEFAULT_DEVICE_GATEWAY_SETTINGS,
  type ClosableDeviceGateway,
  type DeviceGatewaySettings,
} from './device-gateway-options.ts'
import { createDeviceGateway } from './device-gateway.ts'
import type { EdgeNodeDirectory } from './owner/lost-edge-nodes.ts'
import {
  createDeviceOwner,
  type DeviceAttributes,
  type DeviceOwner,
  type OwnedDeviceDirectory,
  type DeviceOwnerSettings,
} from './owner/device-owner.ts'
import { soleOwner } from './partition-owners.ts'
import type { DeviceDirectory } from './credential-reads.ts'
import type {
  DeviceIdentity,
  DeviceSession,
  DeviceSessionListener,
  SharedAttributesUpdate,
  SessionKind,
} from './gateway.ts'

/** Keeps what is published; stores at once unless `holding`. */
export class RecordingLink implements Link {
  readonly messages: Message[] = []
  readonly held: PublishReceipt[] = []
  holding = false
  refusal: MillraceError | undefined
  writable = true
  /** Reads what is stored: the owner. */
  reader: ((message: Message) => void) | undefined

  publish(message: Message, receipt: PublishReceipt): void {
    if (this.refusal !== undefined) return receipt.refused(this.refusal)
    this.messages.push(message)
    if (this.holding) this.held.push(receipt)
    else receipt.stored()
    this.reader?.(message)
  }

  /** The same link for a process that may die: then nothing of it is published. */
  of(isAlive: () => boolean): Link {
    const link = new RecordingLink()
    link.publish = (message, receipt) => {
      if (isAlive()) this.publish(message, receipt)
    }
    return link
  }

  ofType(type: string): readonly Message[] {
    return this.messages.filter((message) => message.type === type)
  }

  hasRoomFor(): boolean {
    return this.writable
  }

  onWritable(_listener: () => void): () => void {
    return () => undefined
  }

  consume(_consumer: LinkConsumer): () => void {
    return () => undefined
  }

  wake(): void {}
  settle(_deliveries: readonly Delivery[]): void {}
  failed(_delivery: Delivery, _tries: number): void {}
  bury(_delivery: Delivery, _reason: string, _tries: number): void {}
  close(): Promise<void> {
    return Promise.resolve()
  }
}

/** Attributes in memory; `fails` makes every call reject. */
export class MemoryAttributes implements DeviceAttributes {
  fails = false
  readonly saves: AttributesSave[] = []
  private readonly stored = new Map<string, Attribute>()

  put(entity: EntityId, scope: AttributeScope, entry: Entry, lastUpdateTs = 1): void {
    this.stored.set(`${entity.id} ${scope} ${entry.key}`, { ...entry, lastUpdateTs })
  }

  value(entity: EntityId, key: string): unknown {
    return this.stored.get(`${entity.id} SERVER_SCOPE ${key}`)?.value
  }

  find(
    entity: EntityId,
    scope: AttributeScope | undefined,
    keys: readonly string[] | undefined,
  ): Promise<{ readonly value: readonly Attribute[] }> {
    if (this.fails) return Promise.reject(new Error('the store does not answer'))
    const prefix = `${entity.id} ${scope ?? ''} `
    const found = [...this.stored].filter(([place, attribute]) => {
      return place.startsWith(prefix) && (keys === undefined || keys.includes(attribute.key))
    })
    return Promise.resolve({ value: found.map(([, attribute]) => attribute) })
  }

  activeDevices(after: string, limit: number): readonly string[] {
    return [...this.stored]
      .map(([place]) => place.split(' ')[0] ?? '')
      .filter((id) => id > after && (this.is(id, 'active') === true || this.isConnected(id)))
      .filter((id, index, ids) => ids.indexOf(id) === index)
      .sort()
      .slice(0, limit)
  }

  private is(id: string, key: string): unknown {
    return this.stored.get(`${id} SERVER_SCOPE ${key}`)?.value
  }

  private isConnected(id: string): boolean {
    return Number(this.is(id, 'lastConnectTime') ?? 0) > Number(this.is(id, 'lastDisconnectTime') ?? 0)
  }

  save(request: AttributesSave): Promise<void> {
    if (this.fails) return Promise.reject(new Error('the store does not answer'))
    this.saves.push(request)
    for (const entry of request.entries) this.put(request.entity, request.scope, entry)
    return Promise.resolve()
  }
}

export class ListeningSession implements DeviceSessionListener {
  readonly updates: SharedAttributesUpdate[] = []
  readonly ends: string[] = []
  refreshes = 0

  sharedAttributesChanged(update: SharedAttributesUpdate): void {
    this.updates.push(update)
  }

  refreshed(): void {
    this.refreshes++
  }

  closed(reason: string): void {
    this.ends.push(reason)
  }
}

export interface GatewayBench {
  readonly clock: ManualClock
  readonly link: RecordingLink
  readonly attributes: MemoryAttributes
  readonly feed: TestFeed
  readonly actors: ActorSystem
  readonly gateway: ClosableDeviceGateway
  readonly owner: DeviceOwner
  /** Token → device; `reads` counts the look-ups, `delay` holds them back until it resolves. */
  readonly directory: { devices: Map<string, DeviceIdentity>; reads: number; delay: Promise<void>; fails: boolean }
  readonly failures: unknown[]
  readonly open: (
    token: string,
    kind?: SessionKind,
  ) => Promise<{ readonly session: DeviceSession; readonly listener: ListeningSession }>
}

export function identityOf(name: string, change: Partial<DeviceIdentity> = {}): DeviceIdentity {
  return {
    deviceId: `00000000-0000-4000-8000-${name.padStart(12, '0').slice(-12)}`,
    tenantId: '00000000-0000-4000-8000-0000000000aa',
    customerId: null,
    deviceName: name,
    deviceType: 'default',
    deviceProfileId: '00000000-0000-4000-8000-0000000000bb',
    ruleChainId: null,
    ...change,
  }
}

export type BenchSettings = DeviceGatewaySettings & DeviceOwnerSettings

export const DEFAULT_BENCH_SETTINGS: BenchSettings = {
  ...DEFAULT_DEVICE_GATEWAY_SETTINGS,
  inactivityTimeoutMs: 600_000,
  stateCheckIntervalMs: 60_000,
  activityReportsPerSecond: 2000,
}

export interface BenchParts {
  readonly directory?: DeviceDirectory
  readonly owned?: OwnedDeviceDirectory
  readonly attributes?: DeviceAttributes
  readonly edgeNodes?: EdgeNodeDirectory
}

/** A gateway with the devices `one` and `two`, whose tokens are their names; `parts` go before those of the bench. */
export function openGatewayBench(
  settings: Partial<BenchSettings> = {},
  parts: BenchParts | ((clock: ManualClock) => BenchParts) = {},
): GatewayBench {
  const clock = new ManualClock()
  const random = new SeededRandom(1)
  const link = new RecordingLink()
  const attributes = new MemoryAttributes()
  const failures: unknown[] = []
  const feed = new TestFeed((error) => failures.push(error))
  const actors = createActorSystem({ clock, random, onError: (failure) => failures.push(failure) })
  const directory = {
    devices: new Map([
      ['one', identityOf('one')],
      ['two', identityOf('two')],
    ]),
    reads: 0,
    delay: Promise.resolve(),
    fails: false,
  }
  const line = localDeviceLine('self')
  const owners = soleOwner('self')
  const all = { ...DEFAULT_BENCH_SETTINGS, ...settings }
  const shared = { link, line, owners, attributes, feed, clock, random, actors, settings: all }
  const given = typeof parts === 'function' ? parts(clock) : parts
  const owner = createDeviceOwner({
    ...shared,
    directory: {
      findIdentity: async (deviceId) => {
        await Promise.resolve()
        for (const device of directory.devices.values()) if (device.deviceId === deviceId) return device
        return undefined
      },
      findActive: (after, limit) => Promise.resolve(attributes.activeDevices(after, limit)),
    },
    ...(given.owned === undefined ? {} : { directory: given.owned }),
    ...(given.edgeNodes === undefined ? {} : { edgeNodes: given.edgeNodes }),
    ...(given.attributes === undefined ? {} : { attributes: given.attributes }),
  })
  link.reader = (message) => owner.delivered([{ message, attempt: 1 }])
  const gateway = createDeviceGateway({
    ...shared,
    directory: {
      findCredentialsChanged: () => Promise.resolve([]),
      async findByCredentials(tokens) {
        directory.reads++
        const found = tokens.flatMap((token) => {
          const device = directory.devices.get(token)
          return device === undefined ? [] : [[token, device] as const]
        })
        await directory.delay
        if (directory.fails) throw new Error('the store does not answer')
        return new Map(found)
      },
    },
    ...(given.directory === undefined ? {} : { directory: given.directory }),
    ...(given.attributes === undefined ? {} : { attributes: given.attributes }),
  })
  return {
    clock,
    link,
    attributes,
    feed,
    actors,
    gateway,
    owner,
    directory,
    failures,
    async open(token, kind = 'lasting') {
      const device = await gateway.authenticate({ type: 'ACCESS_TOKEN', token })
      if (device === undefined) throw new Error(`nobody has the token ${token}`)
      const listener = new ListeningSession()
      return { session: gateway.openSession(device, kind, listener), listener }
    },
  }
}

/** A receipt that counts its answers. */
export class CountingReceipt implements PublishReceipt {
  readonly answers: string[] = []

  stored(): void {
    this.answers.push('stored')
  }

  refused(error: MillraceError): void {
    this.answers.push(error.code)
  }
}
