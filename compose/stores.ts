/**
 * Opens what is durable: entities, time series and the link, each where its setting says. A driver that no setting asks for is not
 * even loaded, so that the embedded default starts without any.
 */
import { join } from 'node:path'
import type { Erased } from '../model/erased.ts'
import { errorText, isMillraceError } from '../model/errors.ts'
import { systemClock, systemRandom } from '../model/system-clock.ts'
import type { Log } from '../model/log.ts'
import type { MetricsSource } from '../api/metrics.ts'
import type { Config } from '../config/settings.ts'
import type { LetterKeeper } from '../engine/link/dead-letters.ts'
import type { DeadLetters } from '../engine/link/dead-letters.ts'
import type { StreamWatcher } from '../engine/link/options.ts'
import type { LinkEvent } from '../engine/link/events.ts'
import type { Link, PublishBound, ReadableLink } from '../engine/link/link.ts'
import { erasedBeside } from '../disk/segments.ts'
import { nodeDisk } from '../disk/node-disk.ts'
import { openSegmentLog } from '../engine/link/segments/segment-log.ts'
import { DECLARED_TABLES } from '../services/entities/declared.ts'
import {
  openEntityStore,
  openPostgresEntityStore,
  type EntityStore,
  type SqliteEntityStore,
} from '../storage/entities/entity-store.ts'
import { openEmbeddedTimeSeries, type EmbeddedTimeSeries } from '../storage/timeseries/embedded/store.ts'
import type { TimeSeriesStore } from '../storage/timeseries/store.ts'
import { BACKUP_PATHS, type BackupSources } from './backup/backups.ts'
import type { Closing } from './closing.ts'
import type { Cluster } from './cluster.ts'
import { DataFolderErrors, takeDataFolder } from './data-folder.ts'
import { stampsOf } from './stamps.ts'
import {
  embeddedTimeSeriesFigures,
  frameLinkFigures,
  postgresTimeSeriesFigures,
  questDbFigures,
  segmentLogFigures,
} from './store-figures.ts'

export type StoredLink = Link &
  ReadableLink &
  PublishBound & {
    readonly deadLetters: DeadLetters
    /** Where dead letters of messages go that the link has settled. */
    readonly letters: LetterKeeper
    /** Who hears which streams this process owns, before the first message. */
    readonly watch: (watcher: StreamWatcher) => void
    /** Messages of the stream with a lower sequence are settled durably; 0 where that is not known here. */
    readonly settledBelow: (stream: number) => number
    /** False while its servers do not answer; absent where there are none. */
    readonly connected?: boolean
    /** What its servers make of an acknowledgement; undefined where this process keeps it itself. */
    readonly durability?: { readonly text: string }
    /** Why it does not take all messages, though it is connected; undefined where it does. */
    readonly trouble?: string | undefined
  }

/** Why a store does not keep what it is given, though it answers; undefined where it does. */
export type Trouble = () => string | undefined

export interface Stores {
  readonly entities: EntityStore
  readonly timeSeries: TimeSeriesStore
  readonly link: StoredLink
  /** The data folder; empty where nothing is kept in it. */
  readonly folder: string
  /** Where this process keeps parked messages: beside the link, since both are one record of what is to be done. Empty where NATS has them. */
  readonly parkedFolder: string
  /** What files of the link hold beside its log. */
  readonly logBeside: () => Promise<Erased>
  readonly metricsSources: readonly MetricsSource[]
  /** How to copy all of it; undefined where a part of it is a server's. */
  readonly backupSources: BackupSources | undefined
  /** Of the stores that can tell. */
  readonly troubles: { readonly entities?: Trouble | undefined; readonly timeSeries?: Trouble | undefined }
}

/** A part that is open, with its figures where it has some. */
interface Opened<Part, Backup = unknown> {
  readonly part: Part
  readonly metricsSources: readonly MetricsSource[]
  readonly trouble?: Trouble
  /** Itself, where it lies in the data folder and can be copied there. */
  readonly backup?: Backup
}

interface Place {
  readonly config: Config
  readonly log: Log
  /** The data folder; empty where nothing is kept in it. */
  readonly folder: string
  readonly cluster: Cluster
  readonly onFatal: (error: Error) => void
}

const STORE_NAMES = ['entity store', 'time-series store', 'link'] as const

/** Throws FOLDER_UNUSABLE, FOLDER_IN_USE, STORE_UNUSABLE and the stores' own errors. */
export async function openStores(
  config: Config,
  log: Log,
  closing: Closing,
  cluster: Cluster,
  onFatal: (error: Error) => void,
): Promise<Stores> {
  const place: Place = { config, log, folder: folderOf(config, closing), cluster, onFatal }
  // The three are apart from each other: they open side by side, and each closes even where another did not open.
  const opened = await Promise.allSettled([openEntities(place), openTimeSeries(place), openLink(place)])
  const [entities, timeSeries, link] = opened
  for (const [index, result] of opened.entries()) {
    if (result.status === 'fulfilled') closing.add(STORE_NAMES[index] ?? '', () => result.value.part.close())
  }
  if (entities.status === 'rejected') throw unusable(STORE_NAMES[0], place, entities.reason)
  if (timeSeries.status === 'rejected') throw unusable(STORE_NAMES[1], place, timeSeries.reason)
  if (link.status === 'rejected') throw unusable(STORE_NAMES[2], place, link.reason)
  return {
    entities: entities.value.part,
    timeSeries: timeSeries.value.part,
    link: link.value.part,
    folder: place.folder,
    parkedFolder: cluster.line === undefined ? join(place.folder, 'link', 'parked') : '',
    logBeside: async () =>
      cluster.line === undefined ? erasedBeside(nodeDisk, join(place.folder, BACKUP_PATHS.link)) : { isGone: true },
    metricsSources: [entities, timeSeries, link].flatMap(({ value }) => value.metricsSources),
    backupSources: sourcesOf(place.folder, entities.value.backup, timeSeries.value.backup, link.value.backup),
    troubles: { entities: entities.value.trouble, timeSeries: timeSeries.value.trouble },
  }
}

function sourcesOf(
  folder: string,
  entities: SqliteEntityStore | undefined,
  timeSeries: EmbeddedTimeSeries | undefined,
  link: unknown,
): BackupSources | undefined {
  const isWhole = entities !== undefined && timeSeries !== undefined && link !== undefined
  return isWhole ? { folder, entities, timeSeries } : undefined
}

/** A process that keeps nothing of its own needs no folder. */
function folderOf(config: Config, closing: Closing): string {
  const { entitiesDatabase, timeSeriesDatabase, link } = config
  if (entitiesDatabase !== 'sqlite' && timeSeriesDatabase !== 'embedded' && link !== 'segment-log') return ''
  const dataFolder = takeDataFolder(config.dataDir)
  closing.add('data folder', () => dataFolder.release())
  return dataFolder.path
}

async function openEntities({ config, folder, log, onFatal }: Place): Promise<Opened<EntityStore, SqliteEntityStore>> {
  const { durability } = config
  if (config.entitiesDatabase === 'postgres') {
    const readConnections = connections(config).reads
    const part = await openPostgresEntityStore({
      ...postgres(config, 'entities'),
      readConnections,
      tables: DECLARED_TABLES,
    })
    return { part, metricsSources: [] }
  }
  const file = join(folder, BACKUP_PATHS.entities)
  let trouble: string | undefined
  const onTrouble = (reason: string | undefined): void => {
    trouble = reason
    if (reason === undefined) log.info('the entity store takes changes again', { file })
    else log.error('the entity store takes no changes: they are refused', { file, reason })
  }
  const part = await openEntityStore({
    ...{ file, durability, clock: systemClock, onFatal, onTrouble },
    tables: DECLARED_TABLES,
  })
  const figures = () => ({ takes_writes: trouble === undefined ? 1 : 0 })
  return { part, metricsSources: [{ name: 'entities', figures }], trouble: () => trouble, backup: part }
}

async function openTimeSeries(place: Place): Promise<Opened<TimeSeriesStore, EmbeddedTimeSeries>> {
  const { config, folder, log, onFatal } = place
  const { durability } = config
  const clock = systemClock
  switch (config.timeSeriesDatabase) {
    case 'embedded': {
      const part = await openEmbeddedTimeSeries({
        directory: join(folder, BACKUP_PATHS.timeSeries),
        durability,
        clock,
        onFatal,
      })
      return {
        part,
        metricsSources: [{ name: 'time_series', figures: () => embeddedTimeSeriesFigures(part.figures()) }],
        trouble: () => part.figures().writeFailure,
        backup: part,
      }
    }
    case 'sql': {
      const { openPostgresTimeSeries } = await import('../storage/timeseries/postgres/store.ts')
      const part = await openPostgresTimeSeries({
        ...postgres(config, 'time series'),
        connections: connections(config).timeSeries,
        partitioning: config.timeSeriesPartitioning,
        ttlSeconds: config.timeSeriesTtlSeconds,
        report: (text, fields) => log.error(text, fields),
      })
      return {
        part,
        metricsSources: [{ name: 'time_series', figures: () => postgresTimeSeriesFigures(part.figures()) }],
      }
    }
    case 'questdb': {
      const [{ openPostgresLatestValues }, { openQuestDbTimeSeries }] = await Promise.all([
        import('../storage/timeseries/postgres/latest-values.ts'),
        import('../storage/timeseries/questdb/store.ts'),
      ])
      const latest = await openPostgresLatestValues({
        ...postgres(config, 'latest values'),
        connections: connections(config).timeSeries,
      })
      const part = await openQuestDbTimeSeries({
        url: config.questDbUrl,
        token: config.questDbToken,
        caFile: config.questDbCaFile,
        postgres: postgres(config, 'history beside QuestDB'),
        latest,
        clock,
        durability,
        partitionBy: config.questDbPartition,
        ttlSeconds: config.timeSeriesTtlSeconds,
        onTrouble: (reason) => {
          if (reason === undefined) log.info('QuestDB takes writes again')
          else log.error('QuestDB takes no writes: messages wait', { reason })
        },
      })
      return { part, metricsSources: [{ name: 'questdb', figures: () => questDbFigures(part.figures()) }] }
    }
  }
}

async function openLink({ config, folder, log, cluster }: Place): Promise<Opened<StoredLink>> {
  const retention = {
    retentionMs: config.linkRetentionMinutes * 60_000,
    retentionBytes: config.linkRetentionMiB * 2 ** 20,
  }
  const letters = { maxDeadLetters: config.deadLettersMax, maxDeadLetterBytes: config.deadLettersMiB * 2 ** 20 }
  if (cluster.line === undefined) {
    const part = await openSegmentLog({
      directory: join(folder, BACKUP_PATHS.link),
      disk: nodeDisk,
      clock: systemClock,
      durability: config.durability,
      partitions: config.queuePartitions,
      observer: stampsOf(config),
      bounds: { ...retention, ...letters },
      onEvent: (event) => reportLinkEvent(log, event),
    })
    return { part, metricsSources: [{ name: 'link', figures: () => segmentLogFigures(part) }], backup: part }
  }
  const { openJetStreamLink } = await import('../engine/link/jetstream/jetstream-link.ts')
  const part = await openJetStreamLink({
    line: cluster.line,
    membership: cluster.membership,
    prefix: config.natsPrefix,
    partitions: config.queuePartitions,
    streams: config.natsStreams,
    replicas: Number(config.natsReplicas),
    maxBytesPerPartition: config.natsMaxPartitionMiB * 2 ** 20,
    maxLetters: letters.maxDeadLetters,
    maxLetterBytes: letters.maxDeadLetterBytes,
    monitors: config.natsMonitorUrls.join(','),
    isSynced: config.natsSynced === 'always',
    isStrict: config.natsStrict,
    observer: stampsOf(config),
    bounds: {
      publishTimeoutMs: config.publishTimeoutMs,
      restMs: config.linkRestMs,
      ownFrameBytes: config.linkOwnFramesMiB * 2 ** 20,
      ...retention,
    },
    clock: systemClock,
    random: systemRandom,
    onEvent: (event) => reportLinkEvent(log, event),
  })
  if (part.durability.isWarning) log.warn(`NATS: ${part.durability.text}`)
  else log.info(`NATS: ${part.durability.text}`)
  return { part, metricsSources: [{ name: 'link', figures: () => frameLinkFigures(part.figures()) }] }
}

function postgres(config: Config, what: string) {
  return { url: config.databaseUrl, applicationName: `millrace ${what}`, clock: systemClock }
}

/** How the connections are shared out: one writes entities, the others read them or are for time series. */
function connections({ databaseConnections }: Config): { readonly reads: number; readonly timeSeries: number } {
  const reads = Math.max(1, Math.floor((databaseConnections - 1) / 2))
  return { reads, timeSeries: Math.max(1, databaseConnections - 1 - reads) }
}

/** What the disk or SQLite said becomes a sentence; the stores' own errors are some already. */
function unusable(store: string, { folder }: Place, error: unknown): Error {
  if (isMillraceError(error)) return error
  return DataFolderErrors.STORE_UNUSABLE({ store, folder, reason: errorText(error) }, error)
}

const GOOD_LINK_EVENTS: ReadonlySet<LinkEvent['kind']> = new Set([
  'disk-recovered',
  'torn-tail-cut',
  'broker-back',
  'stream-open',
  'stream-answers',
  'stream-taken',
  'stream-released',
])

function reportLinkEvent(log: Log, event: LinkEvent): void {
  const { kind, ...fields } = event
  const level = GOOD_LINK_EVENTS.has(kind) ? 'info' : 'error'
  log[level](`link: ${kind}`, 'error' in event ? { ...fields, error: errorText(event.error) } : fields)
}
