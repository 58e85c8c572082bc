import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import protobuf from 'protobufjs'
import { ENTITY_TYPES } from '../../model/entity-id.ts'
import { Message } from '../../model/message.ts'
import { BLOCK_HEADER_BYTES } from '../../disk/block.ts'
import { partitionOf } from './partition.ts'
import { message } from './testkit.ts'
import { BlockWriter } from './block-writer.ts'
import { decodeBlock } from './wire.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 200 })
const arbitraryMessage = fc
  .record({
    id: fc.uuid(),
    ts: fc.integer({ min: -(2 ** 50), max: 2 ** 50 }),
    type: text,
    tenantId: fc.uuid(),
    originator: fc.record({ entityType: fc.constantFrom(...ENTITY_TYPES), id: text }, { noNullPrototype: true }),
    customerId: fc.option(fc.uuid(), { nil: undefined }),
    metadata: fc.dictionary(text, fc.oneof(text, fc.bigInt({ min: 0n, max: 10n ** 15n }).map(String)), {
      noNullPrototype: true,
    }),
    dataType: fc.constantFrom('JSON' as const, 'TEXT' as const, 'BINARY' as const),
    data: fc.oneof(
      text,
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constant('ü'.repeat(9000)),
      fc.constant('x'.repeat(70_000)),
    ),
    ruleChainId: fc.option(fc.uuid(), { nil: undefined }),
    ruleNodeId: fc.option(fc.uuid(), { nil: undefined }),
    resumption: fc.option(
      fc.record(
        {
          executions: fc.nat(100_000),
          firstQueueName: fc.option(fc.constantFrom('Slow', 'Fast'), { nil: undefined }),
          ruleChainId: fc.uuid(),
          ruleNodeId: text,
          callers: fc.array(fc.record({ ruleChainId: fc.uuid(), ruleNodeId: fc.uuid() }, { noNullPrototype: true }), {
            maxLength: 40,
          }),
        },
        { noNullPrototype: true },
      ),
      { nil: undefined },
    ),
    calculatedFieldIds: fc.option(fc.array(fc.uuid(), { maxLength: 6 }), { nil: undefined }),
    queueName: fc.option(fc.constantFrom('HighPriority', 'SequentialByOriginator'), { nil: undefined }),
  })
  .map((fields) => new Message({ ...fields, data: fields.data.toWellFormed() }))

function block(messages: readonly Message[], firstSequence: number): BlockWriter {
  const writer = new BlockWriter(16)
  messages.forEach((each, index) => {
    each.sequence = firstSequence + index
    writer.message(each)
  })
  return writer
}

test('whatever a message holds is read back as it was written', () => {
  fc.assert(
    fc.property(
      fc.array(arbitraryMessage, { minLength: 1, maxLength: 5 }),
      fc.nat(2 ** 31 - 10),
      (messages, sequence) => {
        const content = decodeBlock(
          block(messages, sequence * 1000 + 1)
            .finish()
            .subarray(BLOCK_HEADER_BYTES),
          { entries: true },
        )
        assert.deepEqual(content.messages, messages)
        assert.equal(content.count, messages.length)
      },
    ),
    { numRuns: 300 },
  )
})

test('settles, tries and headers are read back as they were written', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 2 ** 40 })), fc.nat(1000), (sequences, near) => {
      const settled = sequences.flatMap((sequence) => [sequence * 2000, sequence * 2000 + 1]).sort((a, b) => a - b)
      const writer = new BlockWriter(1)
      writer.settled(settled)
      writer.attempts(new Map(sequences.map((sequence) => [sequence, near])))
      const header = {
        id: near,
        previousId: 1,
        previousEnd: 2 ** 33,
        previousNextSequence: 2 ** 45,
        nextSequence: 2 ** 45 + 1,
      }
      writer.segment(header)
      const content = decodeBlock(writer.finish().subarray(BLOCK_HEADER_BYTES), { entries: true })
      assert.deepEqual(
        content.settled.flatMap(([start, length]) => Array.from({ length }, (_, index) => start + index)),
        settled,
      )
      assert.deepEqual(
        content.attempts,
        sequences.map((sequence) => [sequence, near]),
      )
      assert.deepEqual(content.segment, header)
    }),
  )
})

test("the bytes are protobuf: protobufjs reads them by the schema in the module's docstring", () => {
  const source = readFileSync(new URL('./wire.ts', import.meta.url), 'utf8')
  const schema = [...source.slice(0, source.indexOf('*/')).matchAll(/^ \* {5}(.*)$/gm)]
    .map(([, line]) => line)
    .join('\n')
  const root = protobuf.parse(`syntax = "proto3"; ${schema}`, { keepCase: true }).root
  const resumption = { executions: 300, firstQueueName: 'Slow', ruleChainId: 'chain', ruleNodeId: 'node', callers: [] }
  const published = [
    message({ device: 3, data: 'ü'.repeat(300) }),
    message({ device: 3, customerId: 'customer', resumption }),
  ]
  const bytes = block(published, 700).finish().subarray(BLOCK_HEADER_BYTES)
  const type = root.lookupType('Block')
  const decoded = type.toObject(type.decode(bytes), { longs: Number }) as {
    first_sequence: number
    text: string[]
    entry: Record<string, unknown>[]
  }
  assert.equal(decoded.first_sequence, 700)
  const [first, second] = decoded.entry
  const word = (index: unknown): string | undefined => decoded.text[Number(index) - 1]
  assert.deepEqual(
    [first?.['id'], first?.['ts'], first?.['data'], word(first?.['type']), word(first?.['originator'])],
    [published[0]?.id, published[0]?.ts, published[0]?.data, 'POST_TELEMETRY_REQUEST', published[0]?.originator.id],
  )
  assert.equal(word(second?.['customer']), 'customer')
  const [executions, ...way] = second?.['resumption'] as number[]
  assert.deepEqual([executions, ...way.map(word)], [300, 'Slow', 'chain', 'node'])
  assert.equal(first?.['originator'], second?.['originator'], 'the dictionary holds a text once')
  assert.equal(first?.['partition'], partitionOf(published[0]?.originator.id ?? '', 16))
})

test('a reader of one queue gets its messages, with the sequences that they have among all', () => {
  const published = [undefined, 'Fast', undefined, 'Main', 'Fast'].map((queueName) => message({ queueName }))
  const body = block(published, 7).finish().subarray(BLOCK_HEADER_BYTES)
  const read = (wants: (queueName: string | undefined) => boolean): unknown => {
    const { messages, count } = decodeBlock(body, { entries: true, wants })
    return [count, messages.map(({ id, sequence }) => [id, sequence])]
  }
  const expected = (...indexes: number[]): unknown => [5, indexes.map((index) => [published[index]?.id, 7 + index])]
  assert.deepEqual(
    read((queueName) => queueName === 'Fast'),
    expected(1, 4),
  )
  assert.deepEqual(
    read((queueName) => queueName !== 'Fast'),
    expected(0, 2, 3),
  )
})

test('a message that cannot be encoded leaves its frame as it was', () => {
  const writer = block([message()], 5)
  const before = writer.bytes
  const broken = message({ type: 'NEW_TYPE' })
  Object.defineProperty(broken, 'data', { value: undefined })
  broken.sequence = 6
  assert.throws(() => writer.message(broken), TypeError)
  assert.equal(writer.bytes, before)
  const next = message({ type: 'NEW_TYPE' })
  next.sequence = 6
  writer.message(next)
  const { messages } = decodeBlock(writer.finish().subarray(BLOCK_HEADER_BYTES), { entries: true })
  assert.deepEqual(messages[1], next)
})

test('partitions are spread evenly and depend on the id alone', () => {
  const counts = new Array<number>(10).fill(0)
  for (let device = 0; device < 10_000; device++) {
    const partition = partitionOf(message({ device }).originator.id, 10)
    counts[partition] = (counts[partition] ?? 0) + 1
  }
  assert.ok(Math.min(...counts) > 700 && Math.max(...counts) < 1300, counts.join(' '))
})
