/** For tests: transports and owners as processes of their own on one bus, whose words a test loses and whose processes it kills. */
import type { Message } from '../../model/message.ts'
import { createActorSystem } from '../actor/system.ts'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import type { Member, Membership, Role } from '../cluster/membership.ts'
import { TestHub, type TestBus } from '../cluster/testkit.ts'
import { TestFeed } from '../subscriptions/testkit.ts'
import { clusterDeviceLine } from './cluster-line.ts'
import type { ClosableDeviceGateway } from './device-gateway-options.ts'
import { createDeviceGateway } from './device-gateway.ts'
import type { DeviceIdentity, DeviceSession } from './gateway.ts'
import { createDeviceOwner, type DeviceAttributes, type DeviceOwner } from './owner/device-owner.ts'
import { partitionOwners, type PartitionOwners } from './partition-owners.ts'
import {
  DEFAULT_BENCH_SETTINGS,
  identityOf,
  ListeningSession,
  MemoryAttributes,
  RecordingLink,
  type BenchSettings,
} from './testkit.ts'

const PARTITIONS = 8

export interface TransportProcess {
  readonly id: string
  readonly bus: TestBus
  readonly gateway: ClosableDeviceGateway
  /** What its clock is ahead of the others', ms. */
  readonly aheadMs: number
  open(name: string): Promise<{ readonly session: DeviceSession; readonly listener: ListeningSession }>
}

export interface EngineProcess {
  readonly id: string
  readonly bus: TestBus
  readonly owner: DeviceOwner
  readonly owners: PartitionOwners
}

/** A clock that is ahead of another by some ms: wall time alone. */
class ClockAhead extends ManualClock {
  private readonly base: ManualClock
  private readonly aheadMs: number

  constructor(base: ManualClock, aheadMs: number) {
    super()
    this.base = base
    this.aheadMs = aheadMs
  }

  override now(): number {
    return this.base.now() + this.aheadMs
  }

  override monotonic(): number {
    return this.base.monotonic()
  }

  override after(delayMs: number, run: () => void) {
    return this.base.after(delayMs, run)
  }

  override soon(run: () => void): void {
    this.base.soon(run)
  }
}

/** One log, attributes and change feed for all; devices `d0`, `d1` … have their names as tokens. */
export class DeviceCluster {
  readonly clock = new ManualClock()
  readonly hub = new TestHub(this.clock)
  readonly attributes = new MemoryAttributes()
  readonly failures: unknown[] = []
  readonly feed = new TestFeed((error) => this.failures.push(error))
  readonly link = new RecordingLink()
  readonly devices = new Map<string, DeviceIdentity>()
  /** The names of the devices of an edge node; undefined where it is none. */
  devicesOfEdgeNode: (name: string) => Promise<readonly string[] | undefined> = () => Promise.resolve(undefined)
  readonly transports: TransportProcess[] = []
  readonly engines: EngineProcess[] = []
  private members: Member[] = []
  private readonly dead = new Set<string>()
  private readonly listeners = new Map<string, Set<() => void>>()
  private readonly settings: BenchSettings

  constructor(settings: Partial<BenchSettings>, deviceCount = 4) {
    this.settings = { ...DEFAULT_BENCH_SETTINGS, ...settings }
    for (let index = 0; index < deviceCount; index++) this.devices.set(`d${index}`, identityOf(`d${index}`))
    this.link.reader = (message) => this.read(message)
  }

  addTransport(id: string, aheadMs = 0): TransportProcess {
    const parts = this.process(id, 'transport', aheadMs)
    const gateway = createDeviceGateway({
      ...parts,
      directory: {
        findCredentialsChanged: () => Promise.resolve([]),
        findByCredentials: (tokens) =>
          Promise.resolve(
            new Map(
              tokens.flatMap((token) => {
                const device = this.devices.get(token)
                return device === undefined ? [] : [[token, { ...device }] as const]
              }),
            ),
          ),
      },
    })
    const process: TransportProcess = {
      id,
      bus: parts.bus,
      gateway,
      aheadMs,
      open: async (name) => {
        const device = await gateway.authenticate({ type: 'ACCESS_TOKEN', token: name })
        if (device === undefined) throw new Error(`nobody has the token ${name}`)
        const listener = new ListeningSession()
        return { session: gateway.openSession(device, 'lasting', listener), listener }
      },
    }
    this.transports.push(process)
    return process
  }

  addEngine(id: string): EngineProcess {
    const parts = this.process(id, 'engine', 0)
    const owner = createDeviceOwner({
      ...parts,
      members: () => parts.membership.members().map((member) => member.id),
      directory: {
        findIdentity: (deviceId) =>
          Promise.resolve([...this.devices.values()].find((device) => device.deviceId === deviceId)),
        findActive: (after, limit) => Promise.resolve(this.attributes.activeDevices(after, limit)),
      },
      edgeNodes: {
        findDevicesOfEdgeNode: async ({ deviceName }) =>
          (await this.devicesOfEdgeNode(deviceName))?.map((name) => identityOf(name)),
      },
    })
    const process: EngineProcess = { id, bus: parts.bus, owner, owners: parts.owners }
    this.engines.push(process)
    return process
  }

  /** It says nothing more, hears nothing more and is no member any more. */
  kill(process: { readonly id: string; readonly bus: TestBus }): void {
    process.bus.kill()
    this.dead.add(process.id)
    this.transports.splice(0, Infinity, ...this.transports.filter((other) => other !== process))
    this.engines.splice(0, Infinity, ...this.engines.filter((other) => other !== process))
    this.members = this.members.filter(({ id }) => id !== process.id)
    this.listeners.delete(process.id)
    this.membersChanged()
  }

  /** The others take it for gone until the returned function is called; what it says still comes. */
  cutOff(process: { readonly id: string }): () => void {
    const { members } = this
    this.members = members.filter(({ id }) => id !== process.id)
    this.membersChanged()
    return () => {
      this.members = members
      this.membersChanged()
    }
  }

  /** The lifecycle events of a device, in the order of the log. */
  events(name: string): readonly string[] {
    const id = this.devices.get(name)?.deviceId
    const events = this.link.messages.filter(
      ({ originator, type }) => originator.id === id && /^(DIS)?CONNECT_|ACTIVITY_/.test(type),
    )
    return events.map(({ type }) => type)
  }

  private read(message: Message): void {
    for (const { owner, owners } of this.engines) {
      if (owners.owns(owners.partitionOf(message.originator.id))) owner.delivered([{ message, attempt: 1 }])
    }
  }

  private process(id: string, role: Role, aheadMs: number) {
    const { feed, settings } = this
    const bus = this.hub.connect()
    const link = this.link.of(() => !this.dead.has(id))
    const attributes: DeviceAttributes = {
      find: (...asked) => this.attributes.find(...asked),
      save: (request) => (this.dead.has(id) ? Promise.resolve() : this.attributes.save(request)),
    }
    const self: Member = { id, roles: [role], startedAt: this.clock.now() }
    const listeners = new Set<() => void>()
    this.listeners.set(id, listeners)
    this.members = [...this.members, self].sort((one, other) => (one.id < other.id ? -1 : 1))
    const membership: Membership = {
      self,
      members: () => this.members,
      onChange: (listener) => {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
      close: () => Promise.resolve(),
    }
    const clock = new ClockAhead(this.clock, aheadMs)
    const random = new SeededRandom(this.members.length)
    const actors = createActorSystem({ clock, random, onError: (failure) => this.failures.push(failure) })
    const owners = partitionOwners({ membership, partitions: PARTITIONS, connection: bus })
    const line = clusterDeviceLine({ bus, cluster: 'test', self: id })
    this.membersChanged()
    return { bus, membership, clock, random, actors, owners, line, link, attributes, feed, settings }
  }

  private membersChanged(): void {
    for (const listeners of this.listeners.values()) for (const listener of [...listeners]) listener()
  }
}
