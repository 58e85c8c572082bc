/** The processes of a history of devices, each with its own clock, and what they share: streams, bus, attributes, store. */
import type { ManualClock, SeededRandom } from '../../engine/actor/testkit.ts'
import { createActorSystem } from '../../engine/actor/system.ts'
import type { Role } from '../../engine/cluster/membership.ts'
import { clusterDeviceLine } from '../../engine/device/cluster-line.ts'
import type { ClosableDeviceGateway } from '../../engine/device/device-gateway-options.ts'
import { createDeviceGateway } from '../../engine/device/device-gateway.ts'
import { createDeviceOwner, type DeviceOwner } from '../../engine/device/owner/device-owner.ts'
import { stampingObserver } from '../../engine/device/owner/stamping.ts'
import { partitionOwners, type PartitionOwners } from '../../engine/device/partition-owners.ts'
import { DEFAULT_BENCH_SETTINGS, identityOf } from '../../engine/device/testkit.ts'
import type { DeadLetter } from '../../engine/link/dead-letters.ts'
import { FrameLink } from '../../engine/link/frame-link.ts'
import type { Delivery, Link } from '../../engine/link/link.ts'
import { TestFeed } from '../../engine/subscriptions/testkit.ts'
import type { DeviceChecker, EngineView } from './device-checker.ts'
import { RunClock } from './run-clock.ts'
import { SimulatedAttributes } from './simulated-attributes.ts'
import { SimulatedStreams, type SimulatedBroker } from './simulated-broker.ts'
import { SimulatedHub, type SimulatedBus } from './simulated-bus.ts'
import { SimulatedLetters } from './simulated-letters.ts'
import { SimulatedMembership } from './simulated-membership.ts'
import { SimulatedStore } from './simulated-store.ts'

const PARTITIONS = 7
const STREAMS = 4
const DEVICES = 6
const MAX_HELD = 12
export const MAX_SKEW_MS = 450

export const DEVICE_SETTINGS = {
  ...DEFAULT_BENCH_SETTINGS,
  inactivityTimeoutMs: 12_000,
  stateCheckIntervalMs: 1000,
  activityReportMs: 1000,
  leaseIntervalMs: 2000,
}

/** One life of a process. */
export interface Run extends EngineView {
  readonly role: Role
  readonly clock: RunClock
  readonly bus: SimulatedBus
  readonly broker: SimulatedBroker
  readonly link: FrameLink
  readonly feed: TestFeed
  readonly owners: PartitionOwners
  owner?: DeviceOwner
  gateway?: ClosableDeviceGateway
  isClosing: boolean
}

export interface DeviceClusterOptions {
  readonly clock: ManualClock
  readonly random: SeededRandom
  readonly checker: DeviceChecker
  readonly watch: (check: () => void) => void
}

export class DeviceCluster {
  readonly hub: SimulatedHub
  readonly streams: SimulatedStreams
  readonly membership: SimulatedMembership
  readonly attributes: SimulatedAttributes
  readonly store: SimulatedStore
  readonly devices = Array.from({ length: DEVICES }, (_, index) => identityOf(`d${index}`))
  private readonly names = new Map(this.devices.map(({ deviceId, deviceName }) => [deviceId, deviceName]))
  private readonly letters: DeadLetter[] = []
  private readonly clock: ManualClock
  private readonly random: SeededRandom
  private readonly checker: DeviceChecker
  private readonly watch: (check: () => void) => void

  constructor({ clock, random, checker, watch }: DeviceClusterOptions) {
    this.clock = clock
    this.random = random
    this.checker = checker
    this.watch = watch
    this.hub = new SimulatedHub(clock, random)
    this.membership = new SimulatedMembership(clock, random)
    this.attributes = new SimulatedAttributes(clock, random)
    this.store = new SimulatedStore(clock, random)
    const nobody = (): void => undefined
    this.streams = new SimulatedStreams(clock, random, STREAMS, {
      frameStored: nobody,
      frameLeaves: nobody,
      recordWritten: nobody,
    })
    this.attributes.onSaved = ({ entity, entries }, process) => {
      const active = entries.find(({ key }) => key === 'active')
      if (active?.type === 'BOOLEAN') checker.activeSaved(this.nameOf(entity.id), active.value, process)
    }
  }

  /** What is stored of a device. */
  attribute(name: string, key: string): unknown {
    const device = this.devices.find(({ deviceName }) => deviceName === name)
    return this.attributes.value(device?.deviceId ?? '', key)
  }

  start(role: Role, place: number): Run {
    const { random, streams } = this
    const clock = new RunClock(this.clock, Math.round((random.next() * 2 - 1) * MAX_SKEW_MS))
    const id = `${role} ${place} of ${Math.floor(this.clock.monotonic())}`
    const bus = this.hub.connect(clock)
    const broker = streams.connect(clock)
    const membership = this.membership.join(id, clock, role)
    const feed = new TestFeed(this.failed)
    const letters = new SimulatedLetters(this.letters, this.clock, clock, random)
    const bounds = { maxOpenFrames: 8, maxMemoryMessages: 4, maxPendingMessages: 200, retentionMs: 0 }
    const observer = stampingObserver()
    const link = new FrameLink({
      broker,
      partitions: PARTITIONS,
      letters,
      membership,
      clock,
      random,
      bounds,
      observer,
    })
    const owners = partitionOwners({ membership, partitions: PARTITIONS, streams: STREAMS, connection: bus })
    const ownsSince = this.ownership(owners)
    const run: Run = { id, role, clock, bus, broker, link, feed, owners, ownsSince, isClosing: false }
    const attributes = this.attributes.of(id, clock)
    const actors = createActorSystem({ clock, random, onError: ({ error }) => this.failed(error) })
    const line = clusterDeviceLine({ bus, cluster: 'simulation', self: id })
    const parts = { line, owners, attributes, feed, clock, random, actors, settings: DEVICE_SETTINGS }
    if (role === 'transport') {
      run.gateway = createDeviceGateway({
        ...parts,
        link,
        directory: { findByCredentials: this.findByTokens, findCredentialsChanged: () => Promise.resolve([]) },
      })
      return run
    }
    run.owner = createDeviceOwner({
      ...parts,
      link: { publish: (message, receipt) => this.emit(run, message, receipt) },
      members: () => membership.members().map((member) => member.id),
      directory: {
        findIdentity: (deviceId) => Promise.resolve(this.devices.find((device) => device.deviceId === deviceId)),
        findActive: async (after, limit) =>
          (await attributes.activeDevices()).filter((deviceId) => deviceId > after).slice(0, limit),
      },
    })
    this.consume(run, run.owner)
    return run
  }

  private readonly failed = (error: unknown): void =>
    this.watch(() => {
      throw error
    })

  private nameOf(deviceId: string): string {
    return this.names.get(deviceId) ?? deviceId
  }

  private readonly findByTokens = (tokens: readonly string[]) =>
    Promise.resolve(
      new Map(
        this.devices
          .filter(({ deviceName }) => tokens.includes(deviceName))
          .map((device) => [device.deviceName, { ...device }] as const),
      ),
    )

  /** Since when a process has held each partition without a break, as far as it knows. */
  private ownership(owners: PartitionOwners): (device: string) => number {
    const since = new Array<number>(PARTITIONS).fill(Infinity)
    const look = (): void => {
      for (const partition of since.keys()) {
        if (!owners.owns(partition)) since[partition] = Infinity
        else if (since[partition] === Infinity) since[partition] = this.clock.monotonic()
      }
    }
    owners.onChange(look)
    look()
    return (name) => {
      const device = this.devices.find(({ deviceName }) => deviceName === name)
      return since[owners.partitionOf(device?.deviceId ?? '')] ?? Infinity
    }
  }

  private emit(run: Run, ...[message, receipt]: Parameters<Link['publish']>): void {
    if (!run.clock.isAlive) return
    this.watch(() => this.checker.emitted(run, this.nameOf(message.originator.id), message.type))
    run.link.publish(message, receipt)
  }

  /** In place of the rule engine: telemetry is stored, in the store's groups, and settled. */
  private consume(run: Run, owner: DeviceOwner): void {
    const { clock, link } = run
    let held = 0
    const finish = (delivery: Delivery): void => {
      held--
      link.settle([delivery])
      link.wake()
    }
    const save = (delivery: Delivery): void => {
      const { message } = delivery
      if (delivery.isGone === true) return finish(delivery)
      this.store.save(message.id, message.data, (error) => {
        if (error === undefined) this.watch(() => this.checker.committed(message))
        clock.arrive(() => (error === undefined ? finish(delivery) : void clock.after(100, () => save(delivery))))
      })
    }
    link.consume({
      room: () => MAX_HELD - held,
      deliver: (batch) => {
        held += batch.length
        owner.delivered(batch)
        for (const delivery of batch) {
          if (delivery.message.type !== 'POST_TELEMETRY_REQUEST') {
            clock.soon(() => finish(delivery))
            continue
          }
          this.watch(() => this.checker.delivered(delivery.message))
          save(delivery)
        }
      },
    })
  }
}
