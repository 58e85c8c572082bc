/** Messages that wait apart since they fail again and again: where they are kept, within which bounds, and whose devices are refused for them. */
import { errorText } from '../model/errors.ts'
import type { Log } from '../model/log.ts'
import { systemClock } from '../model/system-clock.ts'
import type { MetricsSource } from '../api/metrics.ts'
import type { Config } from '../config/settings.ts'
import type { LinkEvent } from '../engine/link/events.ts'
import { nodeDisk } from '../engine/link/node-disk.ts'
import { DiskParkedLog } from '../engine/parking/disk-parked-log.ts'
import { GatedLink } from '../engine/parking/full-tenants.ts'
import { ParkedStore } from '../engine/parking/parked-store.ts'
import { Parking } from '../engine/parking/parking.ts'
import type { Closing } from './closing.ts'
import { named, type Names } from './figure-names.ts'
import type { Stores } from './stores.ts'
import type { ParkingFigures } from '../engine/parking/parked-list.ts'

export interface OpenedParking {
  readonly parking: Parking
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
  readonly stores: Stores
}

/** Resolves once what a former run parked is read. Throws what the disk throws. */
export async function openParking({ config, log, closing, stores }: ParkingParts): Promise<OpenedParking> {
  const { link } = stores
  const bounds = { maxBytes: config.queueParkedMiB * MIB, maxTenantBytes: config.queueParkedTenantMiB * MIB }
  const report = reportTo(log)
  const parking = new Parking({
    clock: systemClock,
    letters: link.letters,
    partitionOf: () => 0,
    bounds,
    maxInProcess: MAX_IN_PROCESS,
    onFull: (full) => reportFull(log, full),
    onEvent: report,
  })
  closing.add('parked messages', () => parking.close())
  const store = await ParkedStore.open({
    log: new DiskParkedLog({
      disk: nodeDisk,
      directory: stores.parkedFolder,
      durability: config.durability,
      segmentBytes: SEGMENT_BYTES,
      onEvent: report,
    }),
    partition: 0,
    clock: systemClock,
    slackBytes: SEGMENT_BYTES,
    onTrouble: troubleOf(log),
  })
  closing.add('parked store', () => store.close())
  parking.open(store)
  const deviceLink = new GatedLink(link, parking.shares.full, bounds.maxTenantBytes, systemClock, (error) =>
    log.error('a receipt threw', { reason: errorText(error) }),
  )
  return { parking, deviceLink, metricsSources: [parkingFigures(parking, deviceLink)] }
}

/** A quarter of what `Main` holds. */
const MAX_IN_PROCESS = 5000

export function parkingFigures(parking: Parking, deviceLink: GatedLink): MetricsSource {
  return {
    name: 'parked',
    figures: () => ({ ...named(parking.figures(), PARKING), refused_messages_total: deviceLink.refused }),
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
