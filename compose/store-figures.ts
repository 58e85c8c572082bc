/** The figures of what is durable, whichever implementation keeps it, under their Prometheus names. */
import type { FrameLinkFigures } from '../engine/link/options.ts'
import type { SegmentLog } from '../engine/link/segments/segment-log.ts'
import type { EmbeddedFigures } from '../storage/timeseries/embedded/store.ts'
import type { PostgresFigures } from '../storage/timeseries/postgres/store.ts'
import type { QuestDbFigures } from '../storage/timeseries/questdb/store.ts'
import { named, type Names } from '../model/figure-names.ts'

export function segmentLogFigures(link: SegmentLog): Record<string, number> {
  const figures = link.figures()
  return {
    published_messages_total: figures.published,
    stored_messages_total: figures.stored,
    refused_messages_total: figures.refused,
    delivered_messages_total: figures.delivered,
    settled_messages_total: figures.settled,
    buried_messages_total: figures.buried,
    writes_total: figures.writes,
    written_bytes_total: figures.bytesWritten,
    disk_failures_total: figures.diskFailures,
    pending_messages: figures.pending,
    unsettled_messages: figures.unsettled,
    backlog_bytes: figures.backlogBytes,
    segments: figures.segments,
    dead_letters: figures.deadLetters,
    dead_letters_dropped_total: figures.deadLettersDropped,
  }
}

/** The messages that wait in the streams are NATS's to count; these are this process's own. */
export function frameLinkFigures({ connected, ...figures }: FrameLinkFigures): Record<string, number> {
  return { ...named(figures, FRAME_LINK), connected: connected ? 1 : 0 }
}

export function embeddedTimeSeriesFigures({ writeFailure, ...figures }: EmbeddedFigures): Record<string, number> {
  return { ...named(figures, TIME_SERIES), takes_writes: writeFailure === undefined ? 1 : 0 }
}

export function postgresTimeSeriesFigures(figures: PostgresFigures): Record<string, number> {
  return named(figures, POSTGRES)
}

export function questDbFigures({ trouble, ...figures }: QuestDbFigures): Record<string, number> {
  return { ...named(figures, QUESTDB), takes_writes: trouble === undefined ? 1 : 0 }
}

const FRAME_LINK: Names<Omit<FrameLinkFigures, 'connected'>> = {
  published: 'published_messages_total',
  stored: 'stored_messages_total',
  refused: 'refused_messages_total',
  delivered: 'delivered_messages_total',
  settled: 'settled_messages_total',
  failed: 'failed_tries_total',
  buried: 'buried_messages_total',
  writes: 'writes_total',
  bytesWritten: 'written_bytes_total',
  retries: 'repeated_writes_total',
  rests: 'rests_total',
  restedMs: 'rested_milliseconds_total',
  ownFrameBytes: 'own_frame_bytes',
  ownFrames: 'own_frames_total',
  decodedFrames: 'decoded_frames_total',
  pending: 'pending_messages',
  outstanding: 'unsettled_messages',
  openFrames: 'open_frames',
  parkedFrames: 'parked_frames',
  streams: 'owned_streams',
  takeOvers: 'stream_take_overs_total',
  lostStreams: 'lost_streams_total',
  streamDamages: 'stream_damages_total',
  silentStreams: 'silent_streams',
  deadLetters: 'dead_letters',
}

const POSTGRES: Names<PostgresFigures> = {
  pendingPoints: 'pending_points',
  groupsWritten: 'written_groups_total',
  partitionsDropped: 'dropped_partitions_total',
  rowsExpired: 'expired_rows_total',
}

const QUESTDB: Names<Omit<QuestDbFigures, 'trouble'>> = {
  groupsWritten: 'written_groups_total',
  rowsWritten: 'written_rows_total',
  writesRefused: 'refused_writes_total',
  pendingPoints: 'pending_points',
  applyLag: 'apply_lag_transactions',
}

const TIME_SERIES: Names<Omit<EmbeddedFigures, 'moveFailure' | 'writeFailure'>> = {
  pointsWritten: 'written_points_total',
  groupsWritten: 'written_groups_total',
  batchesWritten: 'written_batches_total',
  pendingPoints: 'pending_points',
  tailPoints: 'tail_points',
  logBytes: 'log_bytes',
  databaseBytes: 'database_bytes',
  damagedChunks: 'damaged_chunks',
  moveFailures: 'move_failures_total',
}
