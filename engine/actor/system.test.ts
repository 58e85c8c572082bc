import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ActorKind } from './actor.ts'
import { MAX_BACKOFF_MS, MIN_BACKOFF_MS, RestartCounter } from './supervision.ts'
import { createActorSystem, type ActorFailure, type ActorSystem } from './system.ts'
import { ManualClock, probe, SeededRandom } from './testkit.ts'

function open(): { clock: ManualClock; system: ActorSystem; failures: ActorFailure[] } {
  const clock = new ManualClock()
  const failures: ActorFailure[] = []
  return { clock, failures, system: createActorSystem({ clock, onError: (failure) => failures.push(failure) }) }
}

test('an actor is made with its first message and gets its messages in order, batched', async () => {
  const { clock, system } = open()
  const kind = probe<number>()
  assert.equal(system.tell(kind, 'a', 1), true)
  system.tell(kind, 'a', 2)
  system.tell(kind, 'b', 3)
  assert.deepEqual(kind.batches, [])
  await clock.settle()
  assert.deepEqual(kind.batches, [
    { id: 'a', batch: [1, 2] },
    { id: 'b', batch: [3] },
  ])
  assert.equal(system.figures().actors, 2)
})

test('a batch whose promise is open holds the next one back', async () => {
  const { clock, system } = open()
  const seen: (readonly number[])[] = []
  const open1 = Promise.withResolvers<undefined>()
  const kind: ActorKind<number> = {
    name: 'slow',
    create: () => ({
      receive: async (batch) => {
        seen.push(batch)
        if (seen.length === 1) await open1.promise
      },
    }),
  }
  system.tell(kind, 'a', 1)
  await clock.settle()
  system.tell(kind, 'a', 2)
  system.tell(kind, 'a', 3)
  await clock.settle()
  assert.deepEqual(seen, [[1]])
  open1.resolve(undefined)
  await clock.settle()
  assert.deepEqual(seen, [[1], [2, 3]])
})

test('a behaviour that throws is reported with its batch and restarted after the back-off', async () => {
  const { clock, system, failures } = open()
  const made: number[][] = []
  const lost: unknown[] = []
  const kind: ActorKind<number> = {
    name: 'fragile',
    create: () => {
      const seen: number[] = []
      made.push(seen)
      return {
        receive: (batch) => {
          if (batch.includes(13)) throw new Error('thirteen')
          seen.push(...batch)
        },
      }
    },
    batchFailed: (id, batch, error) => lost.push([id, batch, (error as Error).message]),
  }
  system.tell(kind, 'a', 1)
  await clock.settle()
  system.tell(kind, 'a', 13)
  await clock.settle()
  system.tell(kind, 'a', 2)
  await clock.settle()
  assert.deepEqual(made, [[1]], 'nothing is handed out during the back-off')
  await clock.advance(MIN_BACKOFF_MS)
  assert.deepEqual(made, [[1], [2]])
  assert.deepEqual(lost, [['a', [13], 'thirteen']])
  assert.deepEqual(
    failures.map(({ id, messages }) => ({ id, messages })),
    [{ id: 'a', messages: 1 }],
  )
})

test('an actor that always fails is restarted ever more slowly, and works once it can', async () => {
  const { clock, system, failures } = open()
  const seen: number[] = []
  let isBroken = true
  const actor = system.spawn<number>(
    {
      name: 'always',
      create: () => ({
        receive: (batch) => {
          if (isBroken) throw new Error('always')
          seen.push(...batch)
        },
      }),
    },
    'a',
  )
  for (let tried = 0; tried < 100; tried++) {
    actor.tell(tried)
    await clock.advance(MAX_BACKOFF_MS)
  }
  assert.equal(failures.length, 100)
  isBroken = false
  assert.equal(actor.tell(100), true)
  await clock.advance(MAX_BACKOFF_MS)
  assert.deepEqual(seen, [100])
})

test('the back-off doubles up to its maximum, and a quiet minute forgets it', () => {
  const counter = new RestartCounter()
  const backoffs = [0, 10, 20, 30, 40, 50, 60, 70, 80].map((at) => counter.next(at, undefined))
  assert.deepEqual(backoffs, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000])
  assert.equal(counter.next(60_081, undefined), 100)
  const jittered = new RestartCounter().next(0, new SeededRandom(1))
  assert.ok(jittered >= 80 && jittered <= 120 && jittered !== 100, String(jittered))
})

test('stop answers for what waited and takes nothing more', async () => {
  const { clock, system } = open()
  const answered: (readonly number[])[] = []
  const kind: ActorKind<number> = { ...probe<number>(), name: 'p', batchFailed: (_id, batch) => answered.push(batch) }
  const actor = system.spawn(kind, 'a')
  actor.tell(1)
  actor.tell(2)
  await Promise.all([actor.stop(), actor.stop()])
  assert.deepEqual(answered, [[1, 2]])
  assert.equal(actor.tell(3), false)
  await clock.settle()
  assert.equal(system.figures().actors, 0)
})

test('an idle actor is passivated, and its address wakes it again', async () => {
  const { clock, system } = open()
  const kind = { ...probe<number>(), idleTimeoutMs: 1000 }
  const actor = system.spawn(kind, 'a')
  actor.tell(1)
  await clock.settle()
  await clock.advance(700)
  assert.equal(system.figures().actors, 1)
  await clock.advance(2000)
  assert.equal(system.figures().actors, 0)
  assert.equal(system.figures().passivated, 1)
  assert.equal(clock.pendingTimers, 0, 'no timer runs for nobody')
  const other = system.spawn(kind, 'a')
  other.tell(2)
  actor.tell(3)
  await clock.settle()
  assert.deepEqual(
    kind.batches.map(({ batch }) => batch),
    [[1], [2, 3]],
    'both addresses are one actor',
  )
})

test('close drains every mailbox, closes every behaviour, and refuses what comes later', async () => {
  const { clock, system } = open()
  const kind = probe<number>()
  for (let index = 0; index < 100; index++) system.tell(kind, `actor ${index}`, index)
  const closed = system.close()
  assert.equal(system.close(), closed)
  await clock.settle()
  await closed
  assert.equal(kind.batches.length, 100)
  assert.equal(kind.closed, 100)
  assert.equal(system.tell(kind, 'late', 1), false)
  assert.throws(() => system.spawn(kind, 'late'), { code: 'actor.SYSTEM_CLOSED' })
})

test('100,000 actors stay under 1 KiB of heap each', async () => {
  const { clock, system } = open()
  const kind: ActorKind<number> = {
    name: 'device',
    idleTimeoutMs: 60_000,
    create: () => ({ receive: () => undefined }),
  }
  const before = process.memoryUsage().heapUsed
  for (let index = 0; index < 100_000; index++) system.tell(kind, `device ${index}`, index)
  await clock.settle()
  const each = (process.memoryUsage().heapUsed - before) / 100_000
  assert.equal(system.figures().received, 100_000)
  assert.ok(each < 1024, `${Math.round(each)} bytes an actor, garbage included`)
})
