/**
 * Moves what the version before left on the servers: a work-queue stream per partition, with a record each. Frame by frame in order they go into
 * the streams of today, without what was settled, before anything else is published. Processes that do so at once, or again after a crash, store a
 * frame once: it has an id of its own, and leaves its old stream at once. The old records stream stays, changed so that the version before refuses to start.
 */
import { DiscardPolicy, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream'
import { BlockWriter } from '../block-writer.ts'
import { LinkErrors } from '../errors.ts'
import { streamOf } from '../partition.ts'
import { decodeRecord, isMarked, NEW_RECORD, type OwnerRecord } from '../record.ts'
import { answered, ANSWER_MS, NO_STREAM, present } from './nats-answers.ts'
import { contentOf } from './nats-frame.ts'
import type { NatsNames } from './nats-names.ts'
import type { StreamsOptions } from './nats-streams.ts'

/** Beyond what an old stream holds, so that an update of it is taken. */
const SPARE_BYTES = 4096

/** What is left to be moved; undefined where the version before was never here, or everything is moved. */
export interface OldStreams {
  readonly partitions: readonly number[]
  /** No new stream may begin to count at or below. */
  readonly lastPosition: number
}

/**
 * Looks for old streams, and gives back the room that the servers set aside for them. Throws PARTITIONS_DIFFER where they were made with another
 * count of partitions, BROKER_AWAY.
 */
export async function findOldStreams(
  manager: JetStreamManager,
  names: NatsNames,
  { prefix, partitions: wanted }: StreamsOptions,
): Promise<OldStreams | undefined> {
  const records = await present(manager.streams.info(names.old.records), NO_STREAM)
  if (records === undefined || records.config.discard === DiscardPolicy.New) return undefined
  const stored = Number(records.config.metadata?.['partitions'] ?? wanted)
  if (stored !== wanted) throw LinkErrors.PARTITIONS_DIFFER({ prefix, stored, wanted })
  const partitions: number[] = []
  let lastPosition = 0
  for (let partition = 0; partition < wanted; partition++) {
    const name = names.old.stream(partition)
    const info = await present(manager.streams.info(name), NO_STREAM)
    if (info === undefined) continue
    partitions.push(partition)
    lastPosition = Math.max(lastPosition, info.state.last_seq)
    const room = { max_bytes: info.state.bytes + SPARE_BYTES, allow_direct: true }
    await present(manager.streams.update(name, room), NO_STREAM)
  }
  return { partitions, lastPosition }
}

/** Moves them. The streams of today are there. Throws BROKER_AWAY; then it may be called again. */
export async function moveOldStreams(
  manager: JetStreamManager,
  client: JetStreamClient,
  names: NatsNames,
  { partitions }: OldStreams,
  streams: number,
): Promise<void> {
  for (const partition of partitions) {
    const old = names.old.stream(partition)
    const record = await readRecord(manager, names, partition)
    const stream = streamOf(partition, streams)
    for (let seq = 1; ;) {
      const query = { seq, next_by_subj: names.old.subject(partition) }
      const found = await present(manager.direct.getMessage(old, query), NO_STREAM)
      if (found === undefined) break
      seq = found.seq + 1
      const block = unsettledOf(found.seq, found.data, record)
      if (block !== undefined) {
        const msgID = `moved-${partition}-${found.seq}`
        const options = { msgID, timeout: ANSWER_MS, expect: { streamName: names.stream(stream) } }
        await answered(client.publish(names.subject(stream), block, options))
      }
      // The server forgets the id after two minutes: who begins again later must not find what is moved.
      await present(manager.streams.purge(old, { seq }), NO_STREAM)
    }
    await present(manager.streams.delete(old), NO_STREAM)
  }
}

/** From now on the version before refuses to start on these servers. */
export async function refuseOlder(manager: JetStreamManager, names: NatsNames, replicas: number): Promise<void> {
  const discard = DiscardPolicy.New
  const found = await present(manager.streams.info(names.old.records), NO_STREAM)
  if (found?.config.discard === discard) return
  if (found !== undefined) await answered(manager.streams.update(names.old.records, { discard }))
  else {
    await answered(
      manager.streams.add({
        name: names.old.records,
        subjects: [names.old.recordSubject(0)],
        discard,
        max_bytes: SPARE_BYTES,
        num_replicas: replicas,
      }),
    )
  }
}

async function readRecord(manager: JetStreamManager, names: NatsNames, partition: number): Promise<OwnerRecord> {
  const query = { last_by_subj: names.old.recordSubject(partition) }
  const message = await present(manager.streams.getMessage(names.old.records, query), NO_STREAM)
  return message === undefined ? NEW_RECORD : decodeRecord(message.data)
}

/** The frame as it is stored now: without what is settled, with the tries so far. Undefined where all of it is settled. */
function unsettledOf(position: number, body: Uint8Array, record: OwnerRecord): Uint8Array | undefined {
  const open = record.open.get(position)
  if (open === undefined && position <= record.read.position) return undefined
  let content
  try {
    content = contentOf(position, body, undefined)
  } catch {
    // Told as unreadable when it is read; somebody may still make something of it.
    return body
  }
  const { messages, firstSequence } = content
  const block = new BlockWriter(1)
  const tries = new Map<number, number>()
  for (const message of messages) {
    const index = message.sequence - firstSequence
    if (isMarked(open?.settled, index)) continue
    const count = open?.tries?.get(index)
    if (count !== undefined) tries.set(block.entries, count)
    // Numbered from 0: the reader counts from the frame's position.
    message.sequence = 0
    block.message(message)
  }
  if (block.entries === 0) return undefined
  block.attempts(tries)
  return block.finish()
}
