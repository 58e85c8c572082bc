/** Opens what is durable: entities, time series, and the link's log, all below the data folder. */
import { join } from 'node:path'
import { errorText, isMillraceError } from '../model/errors.ts'
import { systemClock } from '../model/system-clock.ts'
import type { Log } from '../model/log.ts'
import type { Config } from '../config/settings.ts'
import { nodeDisk } from '../engine/link/node-disk.ts'
import { openSegmentLog, type SegmentLog } from '../engine/link/segment-log.ts'
import type { LinkEvent } from '../engine/link/events.ts'
import { openEntityStore, type EntityStore } from '../storage/entities/entity-store.ts'
import { openEmbeddedTimeSeries, type EmbeddedTimeSeries } from '../storage/timeseries/embedded/store.ts'
import type { Closing } from './closing.ts'
import { DataFolderErrors, takeDataFolder } from './data-folder.ts'

export interface Stores {
  readonly entities: EntityStore
  readonly timeSeries: EmbeddedTimeSeries
  readonly link: SegmentLog
}

const STORE_NAMES = ['entity store', 'time-series store', 'link'] as const

/** Throws FOLDER_UNUSABLE, FOLDER_IN_USE, STORE_UNUSABLE and the stores' own errors. */
export async function openStores(
  config: Config,
  log: Log,
  closing: Closing,
  onFatal: (error: Error) => void,
): Promise<Stores> {
  const dataFolder = takeDataFolder(config.dataDir)
  closing.add('data folder', () => dataFolder.release())
  const folder = dataFolder.path
  const { durability } = config
  const clock = systemClock
  // The three are apart from each other: they open side by side, and each closes even where another did not open.
  const opened = await Promise.allSettled([
    openEntityStore({ file: join(folder, 'entities.sqlite'), durability, clock, onFatal }),
    openEmbeddedTimeSeries({ directory: join(folder, 'time-series'), durability, clock, onFatal }),
    openSegmentLog({
      directory: join(folder, 'link'),
      disk: nodeDisk,
      clock,
      durability,
      partitions: config.queuePartitions,
      onEvent: (event) => reportLinkEvent(log, event),
    }),
  ])
  const [entities, timeSeries, link] = opened
  for (const [index, result] of opened.entries()) {
    if (result.status === 'fulfilled') closing.add(STORE_NAMES[index] ?? '', () => result.value.close())
  }
  if (entities.status === 'rejected') throw unusable(STORE_NAMES[0], folder, entities.reason)
  if (timeSeries.status === 'rejected') throw unusable(STORE_NAMES[1], folder, timeSeries.reason)
  if (link.status === 'rejected') throw unusable(STORE_NAMES[2], folder, link.reason)
  return { entities: entities.value, timeSeries: timeSeries.value, link: link.value }
}

/** What the disk or SQLite said becomes a sentence; the stores' own errors are some already. */
function unusable(store: string, folder: string, error: unknown): Error {
  if (isMillraceError(error)) return error
  return DataFolderErrors.STORE_UNUSABLE({ store, folder, reason: errorText(error) }, error)
}

function reportLinkEvent(log: Log, event: LinkEvent): void {
  const { kind, ...fields } = event
  const shown = 'error' in event ? { ...fields, error: errorText(event.error) } : fields
  if (kind === 'disk-recovered' || kind === 'torn-tail-cut') log.info(`link: ${kind}`, shown)
  else log.error(`link: ${kind}`, shown)
}
