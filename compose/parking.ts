/** Messages that wait apart since they fail again and again: where they are kept, within which bounds, and whose devices are refused for them. */
import { errorText } from '../model/errors.ts'
import type { Log } from '../model/log.ts'
import type { Message } from '../model/message.ts'
import { systemClock, systemRandom } from '../model/system-clock.ts'
import type { MetricsSource } from '../api/metrics.ts'
import type { Config } from '../config/settings.ts'
import type { NatsLine } from '../engine/cluster/nats-connection.ts'
import type { LinkEvent } from '../engine/link/events.ts'
import { nodeDisk } from '../disk/node-disk.ts'
import { partitionOf, streamOf } from '../engine/link/partition.ts'
import { NO_LANES, type ParkingControl } from '../engine/parking/control.ts'
import { DiskParkedLog } from '../engine/parking/disk-parked-log.ts'
import { GatedLink } from '../engine/parking/full-tenants.ts'
import { NO_FIGURES, type ParkingFigures } from '../engine/parking/parked-list.ts'
import type { ParkedLog } from '../engine/parking/parked-log.ts'
import { ParkedStore, type ParkedStoreOptions, type ParkedWrites } from '../engine/parking/parked-store.ts'
import { Parking } from '../engine/parking/parking.ts'
import { ParkingBus } from '../engine/parking/parking-bus.ts'
import type { Closing } from './closing.ts'
import type { Cluster } from './cluster.ts'
import { named, type Names } from '../model/figure-names.ts'
import type { Stores } from './stores.ts'

export interface OpenedParking {
  /** Undefined in a process that processes nothing. */
  readonly parking: Parking | undefined
  /** What people may ask of parked lanes, here and elsewhere. */
  readonly control: ParkingControl
  /** The link as devices have it. */
  readonly deviceLink: GatedLink
  readonly metricsSources: readonly MetricsSource[]
}

const MIB = 2 ** 20
const SEGMENT_BYTES = 16 * MIB

export interface ParkingParts {
  readonly config: Config
  readonly log: Log
  readonly closing: Closing
  readonly cluster: Cluster
  readonly stores: Stores
}

/** What the stores of this process have in common. */
interface StoreParts extends ParkingParts {
  readonly writes: ParkedWrites
}

/** Resolves once what a former run parked is read; over NATS it comes with each stream. Throws what the disk throws, BROKER_AWAY and STREAM_UNFIT. */
export async function openParking(parts: ParkingParts): Promise<OpenedParking> {
  const { config, log, closing, cluster, stores } = parts
  const { link } = stores
  const { bus, membership } = cluster
  const writes: ParkedWrites = { writes: 0, rests: 0 }
  let parkingBus: ParkingBus | undefined
  const parking = config.roles.includes('engine')
    ? createParking(parts, (full) => {
        reportFull(log, full)
        parkingBus?.announce()
      })
    : undefined
  if (bus !== undefined) {
    const [clock, random] = [systemClock, systemRandom]
    const own = { membership, clock, random, parking, partitions: config.natsStreams }
    const opened = new ParkingBus({ bus, cluster: config.natsPrefix, ...own })
    parkingBus = opened
    closing.add('parking bus', () => opened.close())
  }
  if (parking !== undefined) {
    closing.add('parked messages', () => parking.close())
    if (cluster.line === undefined) await openOnDisk({ ...parts, writes }, parking)
    else await openOnNats({ ...parts, writes }, cluster.line, parking)
  }
  const full = parkingBus ?? parking?.shares.full ?? new Set<string>()
  const deviceLink = new GatedLink(link, full, config.queueParkedTenantMiB * MIB, systemClock, (error) =>
    log.error('a receipt threw', { reason: errorText(error) }),
  )
  return {
    parking,
    control: parkingBus ?? parking ?? NO_LANES,
    deviceLink,
    metricsSources: [parkingFigures(parking, deviceLink, writes)],
  }
}

function createParking({ config, log, cluster, stores }: ParkingParts, onFull: (full: ReadonlySet<string>) => void) {
  const partitionOfMessage =
    cluster.line === undefined
      ? () => 0
      : ({ originator }: Message) => streamOf(partitionOf(originator.id, config.queuePartitions), config.natsStreams)
  return new Parking({
    clock: systemClock,
    letters: stores.link.letters,
    partitionOf: partitionOfMessage,
    bounds: { maxBytes: config.queueParkedMiB * MIB, maxTenantBytes: config.queueParkedTenantMiB * MIB },
    maxInProcess: MAX_IN_PROCESS,
    onFull,
    onEvent: reportTo(log),
  })
}

async function openOnDisk(parts: StoreParts, parking: Parking): Promise<void> {
  const { config, log, closing, stores } = parts
  const parked = new DiskParkedLog({
    disk: nodeDisk,
    directory: stores.parkedFolder,
    durability: config.durability,
    segmentBytes: SEGMENT_BYTES,
    onEvent: reportTo(log),
  })
  const store = await ParkedStore.open(storeOptions(parts, parked, 0))
  closing.add('parked store', () => store.close())
  parking.open(store)
}

/** A stream's parked lanes come and go with it. */
async function openOnNats(parts: StoreParts, line: NatsLine, parking: Parking): Promise<void> {
  const { config, log, stores } = parts
  // Loaded only here: the embedded default starts without a client of NATS.
  const { NatsParkedLog, prepareParkedStream } = await import('../engine/parking/nats-parked-log.ts')
  const prefix = config.natsPrefix
  await prepareParkedStream({ line, prefix, replicas: Number(config.natsReplicas), clock: systemClock })
  const onDamage = (stream: number, place: number): void => log.error('a parked block is damaged', { stream, place })
  const drop = (stream: number): void => void parking.drop(stream)?.close()
  stores.link.watch({
    taken: async (stream, isHeld) => {
      const parked = new NatsParkedLog({ line, prefix, partition: stream, clock: systemClock, onDamage })
      const store = await ParkedStore.open(storeOptions(parts, parked, stream))
      if (isHeld()) parking.open(store)
      else await store.close()
    },
    leaving: drop,
    gone: drop,
  })
}

function storeOptions({ config, log, writes }: StoreParts, parked: ParkedLog, partition: number): ParkedStoreOptions {
  const restMs = config.queueParkedRestMs
  const own = { log: parked, partition, clock: systemClock, slackBytes: SEGMENT_BYTES }
  return { ...own, restMs, counts: writes, onTrouble: troubleOf(log) }
}

/** A quarter of what `Main` holds. */
const MAX_IN_PROCESS = 5000

function parkingFigures(parking: Parking | undefined, deviceLink: GatedLink, writes: ParkedWrites): MetricsSource {
  return {
    name: 'parked',
    figures: () => ({
      ...named(parking?.figures() ?? NO_FIGURES, PARKING),
      ...named(writes, WRITES),
      refused_messages_total: deviceLink.refused,
    }),
  }
}

const PARKING: Names<ParkingFigures> = {
  lanes: 'originators',
  messages: 'messages',
  bytes: 'bytes',
  inProcess: 'messages_in_flight',
  fullTenants: 'full_tenants',
  parked: 'parked_originators_total',
  returned: 'returned_originators_total',
  tries: 'tries_total',
  buried: 'buried_messages_total',
}

const WRITES: Names<ParkedWrites> = { writes: 'writes_total', rests: 'rests_total' }

function reportTo(log: Log) {
  return ({ kind, ...fields }: LinkEvent): void =>
    log.error(`parked messages: ${kind}`, 'error' in fields ? { ...fields, error: errorText(fields.error) } : fields)
}

export function reportFull(log: Log, full: ReadonlySet<string>): void {
  if (full.size === 0) log.info('no tenant has its share of parked messages full any more')
  else
    log.error("devices are refused: their tenants' shares of parked messages are full", {
      tenants: [...full].join(', '),
    })
}

/** One line when the store begins to refuse, and one when it is over. */
function troubleOf(log: Log) {
  let isTroubled = false
  return (error: unknown): void => {
    if ((error !== undefined) === isTroubled) return
    isTroubled = error !== undefined
    if (isTroubled) log.error('messages can not be parked: they wait in memory', { reason: errorText(error) })
    else log.info('messages can be parked again')
  }
}
