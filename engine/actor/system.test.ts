import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ActorKind } from './actor.ts'
import { DEFAULT_SUPERVISION, RestartCounter } from './supervision.ts'
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
  await clock.advance(DEFAULT_SUPERVISION.minBackoffMs)
  assert.deepEqual(made, [[1], [2]])
  assert.deepEqual(lost, [['a', [13], 'thirteen']])
  assert.deepEqual(
    failures.map(({ id, directive, messages }) => ({ id, directive, messages })),
    [{ id: 'a', directive: 'restart', messages: 1 }],
  )
})

test('too many restarts escalate: the actor stops and its parent fails in its place', async () => {
  const { clock, system, failures } = open()
  let parents = 0
  const parentKind: ActorKind<string> = { name: 'parent', create: () => (parents++, { receive: () => undefined }) }
  const parent = system.spawn(parentKind, 'p')
  parent.tell('wake up')
  await clock.settle()
  const child = system.spawn<string>(
    {
      name: 'child',
      create: () => ({
        receive: () => Promise.reject(new Error('always')),
      }),
      supervision: { ...DEFAULT_SUPERVISION, maxRestarts: 1 },
    },
    'c',
    parent,
  )
  child.tell('one')
  await clock.settle()
  child.tell('two')
  await clock.advance(1000)
  assert.deepEqual(
    failures.map(({ kind, directive }) => [kind, directive]),
    [
      ['child', 'restart'],
      ['child', 'escalate'],
      ['parent', 'restart'],
    ],
  )
  assert.equal(child.tell('three'), false)
  parent.tell('again')
  await clock.advance(1000)
  assert.equal(parents, 2)
})

test('resume keeps the behaviour and its state, stop ends the actor without telling the parent', async () => {
  const { clock, system, failures } = open()
  let made = 0
  const kind = (directive: 'resume' | 'stop'): ActorKind<number> => ({
    name: directive,
    create: () => {
      made++
      return {
        receive: () => {
          throw new Error(directive)
        },
      }
    },
    supervision: { ...DEFAULT_SUPERVISION, decide: () => directive },
  })
  const resumed = system.spawn(kind('resume'), 'a')
  resumed.tell(1)
  await clock.settle()
  resumed.tell(2)
  await clock.settle()
  assert.equal(made, 1)
  const stopped = system.spawn(kind('stop'), 'a')
  stopped.tell(1)
  await clock.settle()
  assert.equal(stopped.tell(2), false)
  assert.deepEqual(
    failures.map(({ directive }) => directive),
    ['resume', 'resume', 'stop'],
  )
})

test('the back-off doubles up to its maximum, and a quiet window forgets it', () => {
  const counter = new RestartCounter()
  const policy = { ...DEFAULT_SUPERVISION, minBackoffMs: 100, maxBackoffMs: 300, maxRestarts: 3, windowMs: 1000 }
  const backoffs = [0, 10, 20, 30].map((at) => counter.next(policy, at, undefined))
  assert.deepEqual(backoffs, [100, 200, 300, undefined])
  assert.equal(counter.next(policy, 2000, undefined), 100)
  const jittered = new RestartCounter().next(policy, 0, new SeededRandom(1)) ?? 0
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
