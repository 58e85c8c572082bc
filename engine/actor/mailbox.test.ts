import assert from 'node:assert/strict'
import { test } from 'node:test'
import { from } from 'rxjs'
import { processorMs } from '../../test/support/processor-time.ts'
import { Mailbox, SharedTurn } from './mailbox.ts'
import { ManualClock } from './testkit.ts'

function open<T>(capacity = 100): {
  clock: ManualClock
  mailbox: Mailbox<T>
  batches: (readonly T[])[]
  ends: unknown[]
} {
  const clock = new ManualClock()
  const mailbox = new Mailbox<T>(new SharedTurn(clock), { capacity })
  const batches: (readonly T[])[] = []
  const ends: unknown[] = []
  mailbox.batches.subscribe({
    next: (batch) => batches.push(batch),
    error: (error) => ends.push(error),
    complete: () => ends.push('complete'),
  })
  return { clock, mailbox, batches, ends }
}

test('what was offered in one turn comes out as one batch, in order', () => {
  const { clock, mailbox, batches } = open<number>()
  mailbox.offer(1)
  mailbox.offer(2)
  assert.equal(batches.length, 0)
  clock.turn()
  assert.deepEqual(batches, [[1, 2]])
})

test('an RxJS source pushes into a mailbox, which completes after its last batch', () => {
  const { clock, mailbox, batches, ends } = open<string>()
  from(['a', 'b']).subscribe(mailbox)
  assert.deepEqual(ends, [])
  clock.turn()
  assert.deepEqual(batches, [['a', 'b']])
  assert.deepEqual(ends, ['complete'])
  assert.equal(mailbox.offer('c'), false)
})

test('a failing source is reported after what it pushed before', () => {
  const { clock, mailbox, batches, ends } = open<string>()
  const failure = new Error('source broke')
  mailbox.next('a')
  mailbox.error(failure)
  clock.turn()
  assert.deepEqual(batches, [['a']])
  assert.deepEqual(ends, [failure])
})

test('the priority lane comes out before the normal one', () => {
  const { clock, mailbox, batches } = open<string>()
  mailbox.offer('normal')
  mailbox.offerUrgent('urgent')
  clock.turn()
  assert.deepEqual(batches, [['urgent'], ['normal']])
})

test('a full mailbox refuses and counts, and takes again once drained', () => {
  const { clock, mailbox, batches } = open<number>(2)
  assert.equal(mailbox.offer(1), true)
  assert.equal(mailbox.offer(2), true)
  assert.equal(mailbox.offer(3), false)
  assert.equal(mailbox.offerUrgent(0), true)
  assert.equal(mailbox.dropped, 1)
  clock.turn()
  assert.deepEqual(batches, [[0], [1, 2]])
  assert.equal(mailbox.offer(4), true)
})

test('a paused mailbox gathers and hands out one batch when resumed', () => {
  const { clock, mailbox, batches } = open<number>()
  mailbox.pause()
  mailbox.offer(1)
  clock.turn()
  mailbox.offer(2)
  assert.deepEqual(batches, [])
  mailbox.resume()
  clock.turn()
  assert.deepEqual(batches, [[1, 2]])
})

test('what is offered while a batch is handed out is the next batch', () => {
  const clock = new ManualClock()
  const mailbox = new Mailbox<number>(new SharedTurn(clock), { capacity: 10 })
  const batches: (readonly number[])[] = []
  mailbox.batches.subscribe((batch) => {
    batches.push(batch)
    if (batches.length === 1) mailbox.offer(9)
  })
  mailbox.offer(1)
  clock.turn()
  assert.deepEqual(batches, [[1]])
  clock.turn()
  assert.deepEqual(batches, [[1], [9]])
})

test('issue-8 I: a receiver that throws stops neither the other mailboxes of its turn nor itself', () => {
  const clock = new ManualClock()
  const turn = new SharedTurn(clock)
  const seen: string[] = []
  const open = (name: string, breaksAt?: string): Mailbox<string> => {
    const mailbox = new Mailbox<string>(turn, { capacity: 10 })
    mailbox.connect({
      batch: (values) => {
        for (const value of values) {
          if (value === breaksAt) throw new Error(`${name} broke`)
          seen.push(`${name} ${value}`)
        }
      },
      closed: () => undefined,
    })
    return mailbox
  }
  const broken = open('broken', 'bad')
  const other = open('other')
  broken.offerUrgent('bad')
  broken.offer('behind it')
  other.offer('first')
  assert.throws(() => clock.turn(), /broken broke/)
  while (clock.turn());
  assert.deepEqual(seen.sort(), ['broken behind it', 'other first'])
  for (const mailbox of [broken, other]) mailbox.offer('later')
  while (clock.turn());
  assert.deepEqual(seen.slice(2), ['broken later', 'other later'])
})

test('a backlog ten times as long drains in about ten times the time', () => {
  const drain = (count: number): number => {
    const clock = new ManualClock()
    const mailbox = new Mailbox<number>(new SharedTurn(clock), { capacity: count })
    let sum = 0
    mailbox.batches.subscribe((batch) => {
      for (const value of batch) sum += value
    })
    const start = processorMs()
    for (let value = 0; value < count; value++) mailbox.offer(value)
    clock.turn()
    assert.equal(sum, (count * (count - 1)) / 2)
    return processorMs() - start
  }
  const best = (count: number): number => Math.min(...Array.from({ length: 5 }, () => drain(count)))
  best(1000)
  const small = best(100_000)
  const large = best(1_000_000)
  // Quadratic would be a hundred times; forty leaves room for a busy machine.
  assert.ok(large < 40 * small + 20, `100,000: ${small.toFixed(1)} ms, 1,000,000: ${large.toFixed(1)} ms`)
})
