/**
 * One write of parked messages: a block of the link's format. Its `reason` is a header in JSON that says whose messages these are, which ones
 * are done with, and how often others were tried. Only messages that failed come here: the header costs what letters cost.
 */
import { z } from 'zod'
import { isEntityType, type EntityType } from '../../model/entity-id.ts'
import type { Message } from '../../model/message.ts'
import { BlockWriter } from '../link/block-writer.ts'
import { hashOf } from '../link/partition.ts'
import { decodeBlock } from '../link/wire.ts'

/** Messages of one queue whose order counts, and why they wait apart. */
export interface LaneName {
  readonly queueName: string
  /** The id of the originator; of the tenant, where the queue takes one of a tenant at a time. */
  readonly key: string
  readonly tenantId: string
  readonly originatorType: EntityType
}

export interface LaneNote extends LaneName {
  readonly why: string
  /** Unix ms. */
  readonly sinceMs: number
}

export interface EntryNote {
  readonly lane: number
  readonly sequence: number
  /** The try that comes next. */
  readonly attempt: number
  /** Of the message's id: a sequence alone could be another message's, after a broker lost its end. */
  readonly idHash: number
  readonly weight: number
}

export interface BlockNotes {
  readonly lanes: readonly LaneNote[]
  /** In the order of the block's messages. */
  readonly entries: readonly EntryNote[]
  readonly done: readonly Pick<EntryNote, 'lane' | 'sequence' | 'idHash'>[]
  readonly tries: readonly Pick<EntryNote, 'lane' | 'sequence' | 'idHash' | 'attempt'>[]
}

/** Of messages that are done with, and of which nothing else is kept. */
export const NOBODYS_LANE: LaneNote = {
  queueName: '',
  key: '',
  tenantId: '',
  originatorType: 'TENANT',
  why: '',
  sinceMs: 0,
}

/** What an entry costs in memory, whatever its size on disk. */
const ENTRY_BYTES = 128

const whole = z.int().min(0)
const headerSchema = z.object({
  lanes: z.array(z.tuple([z.string(), z.string(), z.string(), z.string(), z.string(), whole])),
  entries: z.array(z.tuple([whole, whole, whole, whole, whole])),
  done: z.array(z.tuple([whole, whole, whole])),
  tries: z.array(z.tuple([whole, whole, whole, whole])),
})

export class ParkedBlockWriter {
  private readonly block = new BlockWriter(1)
  private readonly lanes: LaneNote[] = []
  private readonly indexes = new Map<LaneName, number>()
  private readonly entries: EntryNote[] = []
  private readonly doneOnes: BlockNotes['done'][number][] = []
  private readonly tried: BlockNotes['tries'][number][] = []

  /** About: what the header will take is estimated. */
  get bytes(): number {
    return (
      this.block.bytes + 48 * (this.entries.length + this.doneOnes.length + this.tried.length) + 250 * this.lanes.length
    )
  }

  entry(lane: LaneNote, message: Message, attempt: number): void {
    const before = this.block.bytes
    this.block.message(message)
    this.entries.push({
      lane: this.indexOf(lane),
      sequence: message.sequence,
      attempt,
      idHash: hashOf(message.id),
      weight: this.block.bytes - before + ENTRY_BYTES,
    })
  }

  done(lane: LaneNote, sequence: number, idHash: number): void {
    this.doneOnes.push({ lane: this.indexOf(lane), sequence, idHash })
  }

  tries(lane: LaneNote, sequence: number, idHash: number, attempt: number): void {
    this.tried.push({ lane: this.indexOf(lane), sequence, idHash, attempt })
  }

  finish(timeMs: number): { readonly block: Buffer; readonly notes: BlockNotes } {
    const notes = { lanes: this.lanes, entries: this.entries, done: this.doneOnes, tries: this.tried }
    const header = {
      lanes: this.lanes.map((lane) => [
        lane.queueName,
        lane.key,
        lane.tenantId,
        lane.originatorType,
        lane.why,
        lane.sinceMs,
      ]),
      entries: this.entries.map(({ lane, sequence, attempt, idHash, weight }) => [
        lane,
        sequence,
        attempt,
        idHash,
        weight,
      ]),
      done: this.doneOnes.map(({ lane, sequence, idHash }) => [lane, sequence, idHash]),
      tries: this.tried.map(({ lane, sequence, idHash, attempt }) => [lane, sequence, idHash, attempt]),
    }
    this.block.deadLetter(JSON.stringify(header), Math.round(timeMs))
    return { block: this.block.finish(), notes }
  }

  private indexOf(lane: LaneNote): number {
    const known = this.indexes.get(lane)
    if (known !== undefined) return known
    this.indexes.set(lane, this.lanes.length)
    return this.lanes.push(lane) - 1
  }
}

/** What a block's body says, without its messages. Throws where the schema is not kept. */
export function readNotes(body: Buffer): BlockNotes {
  const { reason } = decodeBlock(body, { entries: false })
  // The first block of a segment names the segment, and nothing else.
  if (reason === undefined) return { lanes: [], entries: [], done: [], tries: [] }
  const header = headerSchema.parse(JSON.parse(reason))
  return {
    lanes: header.lanes.map(([queueName, key, tenantId, type, why, sinceMs]) => {
      if (!isEntityType(type)) throw new Error(`entity type ${type} is not known`)
      return { queueName, key, tenantId, originatorType: type, why, sinceMs }
    }),
    entries: header.entries.map(([lane, sequence, attempt, idHash, weight]) => ({
      lane,
      sequence,
      attempt,
      idHash,
      weight,
    })),
    done: header.done.map(([lane, sequence, idHash]) => ({ lane, sequence, idHash })),
    tries: header.tries.map(([lane, sequence, idHash, attempt]) => ({ lane, sequence, idHash, attempt })),
  }
}

/** The messages of a block's body, with their sequences. Throws where the schema is not kept. */
export function readMessages(body: Buffer): readonly Message[] {
  const { messages, reason } = decodeBlock(body, { entries: true })
  const header = headerSchema.parse(JSON.parse(reason ?? '{}'))
  for (const [index, message] of messages.entries()) message.sequence = header.entries[index]?.[1] ?? 0
  return messages
}
