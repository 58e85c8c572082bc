/**
 * Writes blocks by the schema of `wire.ts`, by hand into one buffer as the messages come: the open frame's size is known at any
 * moment, a message that cannot be encoded is taken back, and it costs a tenth less than protobufjs' writer, which keeps a
 * list of operations until the end (`benchmarks/link`).
 */
import type { Message, NodeAddress, Resumption } from '../../model/message.ts'
import { BLOCK_HEADER_BYTES, sealBlock } from '../../disk/block.ts'
import { putVarint } from '../../disk/varint.ts'
import { Dictionary } from './dictionary.ts'
import { partitionOf } from './partition.ts'
import type { ObserverNote } from './record.ts'
import type { SegmentHeader } from '../../disk/segment-file.ts'
import { DATA_TYPES, NEWER_TAG } from './wire.ts'

/** Builds one block. Reused: `reset` keeps the buffer. */
export class BlockWriter {
  private buffer = Buffer.allocUnsafeSlow(64 * 1024)
  private position = BLOCK_HEADER_BYTES
  /** With the partition of each originator, behind it by one. */
  private readonly texts = new Dictionary()
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
    // One burst must not pin its memory for ever.
    if (this.buffer.length > 4 << 20) this.buffer = Buffer.allocUnsafeSlow(64 * 1024)
  }

  /** Adds a message; the first one's sequence numbers the block. Throws on a field of a wrong type, and leaves nothing half done. */
  message(message: Message): void {
    const start = this.position
    const texts = this.texts.size
    try {
      if (this.entryCount === 0) this.firstSequence(message.sequence)
      this.entry(message)
      this.entryCount++
    } catch (error) {
      this.position = start
      this.texts.truncate(texts)
      throw error
    }
  }

  /** Numbers the messages from another sequence on: it is known only when the block is written. */
  renumber(firstSequence: number): void {
    if (this.entryCount === 0) return
    const end = this.position
    this.position = BLOCK_HEADER_BYTES
    this.firstSequence(firstSequence)
    this.position = end
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

  /** Marks the file as one that older versions must not open: they end at this tag. */
  segment(header: SegmentHeader): void {
    this.ensure(1)
    this.buffer[this.position++] = NEWER_TAG
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
    this.time(time)
  }

  time(time: number): void {
    this.numberField(0x48, time)
  }

  note({ upTo, bytes }: ObserverNote): void {
    this.numberField(0x58, upTo)
    this.ensure(bytes.length + 11)
    this.buffer[this.position++] = 0x62
    this.varint(bytes.length)
    this.buffer.set(bytes, this.position)
    this.position += bytes.length
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

  /** Eight bytes, whatever the number: a varint may have empty groups, and so there is room for every other number. */
  private firstSequence(sequence: number): void {
    this.ensure(9)
    this.buffer[this.position++] = 0x08
    let rest = sequence
    for (let group = 0; group < 7; group++) {
      this.buffer[this.position++] = (rest % 128) | 0x80
      rest = Math.floor(rest / 128)
    }
    this.buffer[this.position++] = rest
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
    const queue = this.optionalText(message.queueName)
    const resumption = message.resumption && this.resumptionIndexes(message.resumption)
    const relation = this.optionalText(message.resumption?.relation)
    const calculated = message.calculatedFieldIds?.map((id) => this.text(id))
    const pairs = this.metadataTexts(message)
    this.ensure(256)
    this.buffer[this.position++] = 0x1a
    const start = (this.position += 2)
    // First, so that a reader of one queue skips the others' entries after a look at it.
    if (queue > 0) this.numberField(0x78, queue)
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
    if (resumption !== undefined) {
      // Field 16 is the first whose tag takes two bytes: this one, and 1.
      this.ensure(1)
      this.buffer[this.position++] = 0x82
      this.packed(0x01, (put) => resumption.forEach(put))
    }
    if (relation > 0) {
      this.ensure(1)
      this.buffer[this.position++] = 0x88
      this.numberField(0x01, relation)
    }
    if (calculated !== undefined) {
      this.ensure(1)
      this.buffer[this.position++] = 0x92
      this.packed(0x01, (put) => calculated.forEach(put))
    }
    this.closeLength(start, 2)
  }

  private resumptionIndexes(resumption: Resumption): readonly number[] {
    const address = (at: NodeAddress): number[] => [this.text(at.ruleChainId), this.text(at.ruleNodeId)]
    const queue = this.optionalText(resumption.firstQueueName)
    return [resumption.executions, queue, ...address(resumption), ...resumption.callers.flatMap(address)]
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
    const noted = this.texts.noteOf(originator)
    if (noted > 0) return noted - 1
    const partition = partitionOf(id, this.partitions)
    this.texts.note(originator, partition + 1)
    return partition
  }

  private optionalText(value: string | undefined): number {
    return value === undefined ? 0 : this.text(value)
  }

  /** The dictionary index of a text, added where it is new. */
  private text(value: string): number {
    const known = this.texts.find(value)
    if (known > 0) return known
    this.textField(0x12, value)
    return this.texts.add(value)
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
    this.position = putVarint(this.buffer, this.position, value)
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
