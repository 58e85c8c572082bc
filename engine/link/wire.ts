/**
 * The log's records as protobuf, and how they are read. `block-writer.ts` writes them; the test has protobufjs' reflection read by
 * this schema what was written there:
 *
 *     message Block {
 *       uint64 first_sequence = 1;       // of the entries, which count up from it
 *       repeated string text = 2;        // the dictionary: entry indexes count from 1, 0 is absent; a text precedes its first use
 *       repeated Entry entry = 3;
 *       repeated uint64 settled = 4;     // ascending pairs: start behind the last range's end, length
 *       repeated uint64 attempts = 5;    // pairs: sequence, tries so far
 *       repeated uint64 segment = 6;     // see SegmentHeader
 *       string reason = 8;               // of the dead letter that this block holds
 *       uint64 time = 9;                 // when the letter was buried, or the frame stored, Unix ms
 *       repeated uint64 removed = 10;    // sequences of dead letters that are gone
 *       uint64 noted_up_to = 11;         // the position that the observer's note stands behind
 *       bytes note = 12;                 // follows field 11
 *     }
 *
 * Before field 6 stands one byte that is no protobuf (`NEWER_TAG`): a version that does not know the fields above refuses the file there.
 *     message Entry {
 *       string id = 1;  sint64 ts = 2;  uint32 type = 3;  uint32 tenant = 4;  uint32 originator_type = 5;
 *       uint32 originator = 6;  uint32 customer = 7;
 *       repeated uint32 metadata = 8;    // pairs: key, value; value 0 is the next metadata_text
 *       repeated string metadata_text = 9;
 *       uint32 data_type = 10;  string data = 11;  uint32 rule_chain = 12;  uint32 rule_node = 13;  uint32 partition = 14;
 *       uint32 queue = 15;               // written first; absent is Main, as in blocks of before there were queues
 *       repeated uint32 resumption = 16; // executions so far, first queue, chain, node; then pairs: chain, node of the callers, innermost first
 *       uint32 relation = 17;            // of the resumption, where it goes on behind its node
 *       repeated uint32 calculated_field = 18;
 *     }
 */
import protobuf from 'protobufjs/minimal.js'
import type { SegmentHeader } from '../../disk/segment-file.ts'
import { Message, type DataType, type Resumption } from '../../model/message.ts'
import { isEntityType } from '../../model/entity-id.ts'
import type { ObserverNote } from './record.ts'

const QUEUE_TAG = 0x78
/** A tag of field 15 with wire type 7, which no protobuf has. */
export const NEWER_TAG = 0x7f

export const DATA_TYPES: readonly DataType[] = ['JSON', 'TEXT', 'BINARY']

/** A block as read back. */
export interface BlockContent {
  firstSequence: number
  messages: Message[]
  settled: [start: number, length: number][]
  attempts: [sequence: number, tries: number][]
  segment: SegmentHeader | undefined
  reason: string | undefined
  time: number
  removed: number[]
  note: ObserverNote | undefined
  /** Entries in the block, also those that were not decoded: sequences go from `firstSequence` over all of them. */
  count: number
}

export interface DecodeOptions {
  /** False skips the messages and only counts them. */
  readonly entries: boolean
  /** Messages of queues for which it says false are skipped, and counted. */
  readonly wants?: (queueName: string | undefined) => boolean
}

/** Decodes a block's body. Throws where the schema is not kept. */
export function decodeBlock(body: Buffer, options: DecodeOptions): BlockContent {
  const reader = protobuf.Reader.create(body)
  const content: BlockContent = {
    firstSequence: 0,
    messages: [],
    settled: [],
    attempts: [],
    segment: undefined,
    reason: undefined,
    time: 0,
    removed: [],
    note: undefined,
    count: 0,
  }
  const texts: string[] = ['']
  let notedUpTo = 0
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    const field = tag >>> 3
    if (tag === NEWER_TAG) continue
    if (field === 1) content.firstSequence = wide(reader)
    else if (field === 2 && options.entries) texts.push(reader.string())
    else if (field === 3) {
      const sequence = content.firstSequence + content.count++
      if (!options.entries || (options.wants !== undefined && !options.wants(queueOf(reader, texts))))
        reader.skipType(2)
      else {
        const message = readEntry(reader, texts)
        message.sequence = sequence
        content.messages.push(message)
      }
    } else if (field === 4) readSettled(reader, content.settled)
    else if (field === 5) for (const pair of pairs(packedNumbers(reader))) content.attempts.push(pair)
    else if (field === 6) content.segment = readSegment(packedNumbers(reader))
    else if (field === 8) content.reason = reader.string()
    else if (field === 9) content.time = wide(reader)
    else if (field === 10) content.removed.push(...packedNumbers(reader))
    else if (field === 11) notedUpTo = wide(reader)
    else if (field === 12) content.note = { upTo: notedUpTo, bytes: reader.bytes().slice() }
    else reader.skipType(tag & 7)
  }
  return content
}

/** Whose message the block holds, without reading the message: a letter's block has one. Throws where the schema is not kept. */
export function tenantOf(body: Buffer): string {
  const reader = protobuf.Reader.create(body)
  const texts: string[] = ['']
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    if (tag === NEWER_TAG) continue
    if (tag >>> 3 === 2) texts.push(reader.string())
    else if (tag >>> 3 !== 3) reader.skipType(tag & 7)
    else {
      const end = reader.uint32() + reader.pos
      while (reader.pos < end) {
        const entryTag = reader.uint32()
        if (entryTag >>> 3 === 4) return texts[reader.uint32()] ?? ''
        reader.skipType(entryTag & 7)
      }
    }
  }
  return ''
}

/** The queue of the entry that comes next, without reading it. */
function queueOf(reader: protobuf.Reader, texts: readonly string[]): string | undefined {
  const start = reader.pos
  const length = reader.uint32()
  const index = length > 0 && reader.uint32() === QUEUE_TAG ? reader.uint32() : 0
  reader.pos = start
  return index === 0 ? undefined : texts[index]
}

function readEntry(reader: protobuf.Reader, texts: readonly string[]): Message {
  const end = reader.uint32() + reader.pos
  let id = ''
  let ts = 0
  let type = 0
  let tenant = 0
  let originatorType = 0
  let originator = 0
  let customer = 0
  let dataType = 0
  let data = ''
  let chain = 0
  let node = 0
  let queue = 0
  let resumption: readonly number[] | undefined
  let relation = 0
  let calculated: readonly number[] | undefined
  const metadata: number[] = []
  const metadataTexts: string[] = []
  while (reader.pos < end) {
    const tag = reader.uint32()
    switch (tag >>> 3) {
      case 1:
        id = reader.string()
        break
      case 2:
        ts = wide(reader)
        break
      case 3:
        type = reader.uint32()
        break
      case 4:
        tenant = reader.uint32()
        break
      case 5:
        originatorType = reader.uint32()
        break
      case 6:
        originator = reader.uint32()
        break
      case 7:
        customer = reader.uint32()
        break
      case 8:
        metadata.push(reader.uint32())
        break
      case 9:
        metadataTexts.push(reader.string())
        break
      case 10:
        dataType = reader.uint32()
        break
      case 11:
        data = reader.string()
        break
      case 12:
        chain = reader.uint32()
        break
      case 13:
        node = reader.uint32()
        break
      case 15:
        queue = reader.uint32()
        break
      case 16:
        resumption = packedNumbers(reader)
        break
      case 17:
        relation = reader.uint32()
        break
      case 18:
        calculated = packedNumbers(reader)
        break
      default:
        reader.skipType(tag & 7)
    }
  }
  const entityType = texts[originatorType] ?? ''
  if (!isEntityType(entityType)) throw new Error(`entity type ${entityType} is not known`)
  return new Message({
    id,
    ts: ts % 2 === 0 ? ts / 2 : -(ts + 1) / 2,
    type: texts[type] ?? '',
    tenantId: texts[tenant] ?? '',
    originator: { entityType, id: texts[originator] ?? '' },
    customerId: customer === 0 ? undefined : texts[customer],
    metadata: readMetadata(metadata, metadataTexts, texts),
    dataType: DATA_TYPES[dataType] ?? 'JSON',
    data,
    ruleChainId: chain === 0 ? undefined : texts[chain],
    ruleNodeId: node === 0 ? undefined : texts[node],
    queueName: queue === 0 ? undefined : texts[queue],
    resumption: resumption && readResumption(resumption, relation, texts),
    calculatedFieldIds: calculated?.map((index) => texts[index] ?? ''),
  })
}

function readResumption(
  [executions = 0, queue = 0, ...indexes]: readonly number[],
  relation: number,
  texts: readonly string[],
): Resumption {
  const [own, ...callers] = [...pairs(indexes)].map(([chain, node]) => ({
    ruleChainId: texts[chain] ?? '',
    ruleNodeId: texts[node] ?? '',
  }))
  if (own === undefined) throw new Error('a message goes on at no node')
  const firstQueueName = queue === 0 ? undefined : texts[queue]
  return { executions, ...own, firstQueueName, callers, ...(relation === 0 ? {} : { relation: texts[relation] }) }
}

function readMetadata(
  indexes: readonly number[],
  inline: readonly string[],
  texts: readonly string[],
): Record<string, string> {
  const metadata: Record<string, string> = {}
  let nextInline = 0
  for (const [keyIndex, valueIndex] of pairs(indexes)) {
    const key = texts[keyIndex] ?? ''
    const value = (valueIndex === 0 ? inline[nextInline++] : texts[valueIndex]) ?? ''
    // An assignment to this one name would set the prototype.
    if (key === '__proto__') {
      Object.defineProperty(metadata, key, { value, enumerable: true, configurable: true, writable: true })
    } else metadata[key] = value
  }
  return metadata
}

function readSettled(reader: protobuf.Reader, settled: [number, number][]): void {
  let end = 0
  for (const [gap, length] of pairs(packedNumbers(reader))) {
    settled.push([end + gap, length])
    end += gap + length
  }
}

function readSegment(numbers: readonly number[]): SegmentHeader {
  const [id = 0, previousId = 0, previousEnd = 0, previousNextSequence = 0, nextSequence = 0] = numbers
  return { id, previousId, previousEnd, previousNextSequence, nextSequence }
}

function packedNumbers(reader: protobuf.Reader): number[] {
  const numbers: number[] = []
  const end = reader.uint32() + reader.pos
  while (reader.pos < end) numbers.push(wide(reader))
  return numbers
}

function* pairs(numbers: readonly number[]): Generator<[number, number]> {
  for (let index = 0; index + 1 < numbers.length; index += 2) yield [numbers[index] ?? 0, numbers[index + 1] ?? 0]
}

/**
 * A uint64 below 2^53: all that is counted here stays there. By hand, since the library makes an object of two halves, whose way to a number
 * leads over decimal text: nearly half of what decoding cost.
 */
function wide(reader: protobuf.Reader): number {
  const { buf } = reader
  let value = 0
  for (let scale = 1; scale < MAX_SCALE; scale *= 128) {
    const byte = reader.pos < reader.len ? buf[reader.pos++] : undefined
    if (byte === undefined) break
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return value
  }
  throw new RangeError(`no number at ${reader.pos} of ${reader.len}`)
}

/** Ten bytes of seven bits. */
const MAX_SCALE = 2 ** 70
