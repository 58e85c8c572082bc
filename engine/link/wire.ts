/**
 * The log's records as protobuf, written by hand into one buffer as the messages come: the open frame's size is known at any
 * moment, a message that cannot be encoded is taken back, and it costs a quarter less than protobufjs' writer, which keeps a list of
 * operations until the end (`benchmarks/link`). The reading is protobufjs', and the test has its reflection read by this schema
 * what is written here:
 *
 *     message Block {
 *       uint64 first_sequence = 1;       // of the entries, which count up from it
 *       repeated string text = 2;        // the dictionary: entry indexes count from 1, 0 is absent; a text precedes its first use
 *       repeated Entry entry = 3;
 *       repeated uint64 settled = 4;     // ascending pairs: start behind the last range's end, length
 *       repeated uint64 attempts = 5;    // pairs: sequence, tries so far
 *       repeated uint64 segment = 6;     // see SegmentHeader
 *       string reason = 8;               // of the dead letter that this block holds
 *       uint64 time = 9;                 // when it was buried, Unix ms
 *       repeated uint64 removed = 10;    // sequences of dead letters that are gone
 *     }
 *     message Entry {
 *       string id = 1;  sint64 ts = 2;  uint32 type = 3;  uint32 tenant = 4;  uint32 originator_type = 5;
 *       uint32 originator = 6;  uint32 customer = 7;
 *       repeated uint32 metadata = 8;    // pairs: key, value; value 0 is the next metadata_text
 *       repeated string metadata_text = 9;
 *       uint32 data_type = 10;  string data = 11;  uint32 rule_chain = 12;  uint32 rule_node = 13;  uint32 partition = 14;
 *     }
 */
import protobuf from 'protobufjs/minimal.js'
import { Message, type DataType } from '../../model/message.ts'
import { isEntityType } from '../../model/entity-id.ts'
import { BLOCK_HEADER_BYTES, sealBlock } from './block.ts'
import { partitionOf } from './partition.ts'

const DATA_TYPES: readonly DataType[] = ['JSON', 'TEXT', 'BINARY']

export interface SegmentHeader {
  readonly id: number
  /** The segment before this one, 0 for none, how many of its bytes are valid, and which sequence follows its last. */
  readonly previousId: number
  readonly previousEnd: number
  readonly previousNextSequence: number
  /** No sequence at or above this one was given out before. */
  readonly nextSequence: number
}

/** Builds one block. Reused: `reset` keeps the buffer. */
export class BlockWriter {
  private buffer = Buffer.allocUnsafeSlow(64 * 1024)
  private position = BLOCK_HEADER_BYTES
  private readonly texts = new Map<string, number>()
  private readonly partitionOfText = new Map<number, number>()
  private readonly partitions: number
  private entryCount = 0
  private readonly indexes: number[] = []

  constructor(partitions: number) {
    this.partitions = partitions
  }

  /** Bytes so far, header included. */
  get bytes(): number {
    return this.position
  }

  get entries(): number {
    return this.entryCount
  }

  reset(): void {
    this.position = BLOCK_HEADER_BYTES
    this.entryCount = 0
    this.texts.clear()
    this.partitionOfText.clear()
    // One burst must not pin its memory for ever.
    if (this.buffer.length > 4 << 20) this.buffer = Buffer.allocUnsafeSlow(64 * 1024)
  }

  /** Adds a message; the first one's sequence numbers the block. Throws on a field of a wrong type, and leaves nothing half done. */
  message(message: Message): void {
    const start = this.position
    const texts = this.texts.size
    try {
      if (this.entryCount === 0) this.numberField(0x08, message.sequence)
      this.entry(message)
      this.entryCount++
    } catch (error) {
      this.position = start
      for (const [text, index] of this.texts) if (index > texts) this.texts.delete(text)
      throw error
    }
  }

  settled(ascending: readonly number[]): void {
    if (ascending.length === 0) return
    this.packed(0x22, (put) => {
      let end = 0
      for (let index = 0; index < ascending.length;) {
        const start = ascending[index] ?? 0
        let next = index + 1
        while (next < ascending.length && ascending[next] === start + (next - index)) next++
        put(start - end)
        put(next - index)
        end = start + (next - index)
        index = next
      }
    })
  }

  attempts(attempts: ReadonlyMap<number, number>): void {
    if (attempts.size === 0) return
    this.packed(0x2a, (put) => {
      for (const [sequence, tries] of attempts) {
        put(sequence)
        put(tries)
      }
    })
  }

  segment(header: SegmentHeader): void {
    this.packed(0x32, (put) => {
      put(header.id)
      put(header.previousId)
      put(header.previousEnd)
      put(header.previousNextSequence)
      put(header.nextSequence)
    })
  }

  deadLetter(reason: string, time: number): void {
    this.textField(0x42, reason)
    this.numberField(0x48, time)
  }

  removed(sequences: readonly number[]): void {
    this.packed(0x52, (put) => sequences.forEach(put))
  }

  /** The finished block. It is this writer's own buffer: good until `reset`. */
  finish(): Buffer {
    const block = this.buffer.subarray(0, this.position)
    sealBlock(block)
    return block
  }

  private entry(message: Message): void {
    // Every text that is new stands before the entry, so that both sides need one pass.
    const type = this.text(message.type)
    const tenant = this.text(message.tenantId)
    const originatorType = this.text(message.originator.entityType)
    const originator = this.text(message.originator.id)
    const customer = this.optionalText(message.customerId)
    const chain = this.optionalText(message.ruleChainId)
    const node = this.optionalText(message.ruleNodeId)
    const pairs = this.metadataTexts(message)
    this.ensure(256)
    this.buffer[this.position++] = 0x1a
    const start = (this.position += 2)
    this.textField(0x0a, message.id)
    this.numberField(0x10, message.ts < 0 ? -message.ts * 2 - 1 : message.ts * 2)
    this.numberField(0x18, type)
    this.numberField(0x20, tenant)
    this.numberField(0x28, originatorType)
    this.numberField(0x30, originator)
    if (customer > 0) this.numberField(0x38, customer)
    this.metadata(message, pairs)
    if (message.dataType !== 'JSON') this.numberField(0x50, DATA_TYPES.indexOf(message.dataType))
    this.textField(0x5a, message.data)
    if (chain > 0) this.numberField(0x60, chain)
    if (node > 0) this.numberField(0x68, node)
    this.numberField(0x70, this.partition(originator, message.originator.id))
    this.closeLength(start, 2)
  }

  /** Puts the metadata's texts in the dictionary, and their indexes in `indexes`: 0 for a value that stands in the entry. */
  private metadataTexts(message: Message): number {
    let count = 0
    for (const key in message.metadata) {
      const value = message.metadata[key] ?? ''
      this.indexes[count++] = this.text(key)
      this.indexes[count++] = isRepeated(value) ? this.text(value) : 0
    }
    return count
  }

  private metadata(message: Message, count: number): void {
    for (let index = 0; index < count; index++) this.numberField(0x40, this.indexes[index] ?? 0)
    let index = 1
    for (const key in message.metadata) {
      if (this.indexes[index] === 0) this.textField(0x4a, message.metadata[key] ?? '')
      index += 2
    }
  }

  private partition(originator: number, id: string): number {
    let partition = this.partitionOfText.get(originator)
    if (partition === undefined) this.partitionOfText.set(originator, (partition = partitionOf(id, this.partitions)))
    return partition
  }

  private optionalText(value: string | undefined): number {
    return value === undefined ? 0 : this.text(value)
  }

  /** The dictionary index of a text, added where it is new. */
  private text(value: string): number {
    const known = this.texts.get(value)
    if (known !== undefined) return known
    const index = this.texts.size + 1
    this.textField(0x12, value)
    this.texts.set(value, index)
    return index
  }

  /** `tag` is one byte: field number below 16. */
  private numberField(tag: number, value: number): void {
    this.ensure(11)
    this.buffer[this.position++] = tag
    this.varint(value)
  }

  private textField(tag: number, value: string): void {
    const length = value.length
    this.ensure(length * 3 + 6)
    const buffer = this.buffer
    buffer[this.position++] = tag
    const start = this.position + varintBytes(length)
    let end = start
    if (length <= SHORT_TEXT) {
      // A call into the runtime costs more than a short loop.
      for (let index = 0; index < length; index++) {
        const code = value.charCodeAt(index)
        if (code > 0x7f) {
          end = start + buffer.write(value, start)
          break
        }
        buffer[end++] = code
      }
    } else {
      end = start + buffer.write(value, start)
    }
    const reserved = start - this.position
    this.position = end
    this.closeLength(start, reserved)
  }

  private packed(tag: number, fill: (put: (value: number) => void) => void): void {
    this.ensure(16)
    this.buffer[this.position++] = tag
    const start = (this.position += 2)
    fill((value) => {
      this.ensure(10)
      this.varint(value)
    })
    this.closeLength(start, 2)
  }

  /** Puts the length of what stands from `start` to here into the `reserved` bytes before it; moves it where they are too few. */
  private closeLength(start: number, reserved: number): void {
    const length = this.position - start
    const needed = varintBytes(length)
    const end = this.position
    this.position = start - reserved
    if (needed > reserved) {
      this.ensure(needed + length)
      this.buffer.copyWithin(start - reserved + needed, start, end)
      this.varint(length)
      this.position = end + needed - reserved
      return
    }
    if (needed === reserved) this.varint(length)
    else {
      // A length of one byte written in two is valid protobuf, and saves moving the content.
      this.buffer[this.position++] = (length & 0x7f) | 0x80
      this.buffer[this.position++] = length >>> 7
    }
    this.position = end
  }

  private varint(value: number): void {
    const buffer = this.buffer
    let rest = value
    while (rest > 0x7fffffff) {
      buffer[this.position++] = (rest % 128) | 0x80
      rest = Math.floor(rest / 128)
    }
    while (rest > 0x7f) {
      buffer[this.position++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    buffer[this.position++] = rest
  }

  private ensure(bytes: number): void {
    if (this.position + bytes <= this.buffer.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, this.position + bytes))
    this.buffer.copy(grown, 0, 0, this.position)
    this.buffer = grown
  }
}

const SHORT_TEXT = 24

function varintBytes(value: number): number {
  if (value < 0x80) return 1
  if (value < 0x4000) return 2
  return value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5
}

/** Times and counters hardly ever repeat: they would only fill the dictionary. */
function isRepeated(value: string): boolean {
  const first = value.charCodeAt(0)
  return value.length < 64 && !(value.length >= 10 && first >= 0x30 && first <= 0x39)
}

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
  /** Entries in the block, also where they were not decoded. */
  count: number
}

/** Decodes a block's body. `entries: false` skips the messages and only counts them. Throws where the schema is not kept. */
export function decodeBlock(body: Buffer, options: { readonly entries: boolean }): BlockContent {
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
    count: 0,
  }
  const texts: string[] = ['']
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    const field = tag >>> 3
    if (field === 1) content.firstSequence = wide(reader)
    else if (field === 2 && options.entries) texts.push(reader.string())
    else if (field === 3) {
      content.count++
      if (!options.entries) reader.skipType(2)
      else {
        const message = readEntry(reader, texts)
        message.sequence = content.firstSequence + content.messages.length
        content.messages.push(message)
      }
    } else if (field === 4) readSettled(reader, content.settled)
    else if (field === 5) for (const pair of pairs(packedNumbers(reader))) content.attempts.push(pair)
    else if (field === 6) content.segment = readSegment(packedNumbers(reader))
    else if (field === 8) content.reason = reader.string()
    else if (field === 9) content.time = wide(reader)
    else if (field === 10) content.removed.push(...packedNumbers(reader))
    else reader.skipType(tag & 7)
  }
  return content
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
  })
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

/** A uint64 below 2^53: all that is counted here stays there. */
function wide(reader: protobuf.Reader): number {
  return Number(reader.uint64())
}
