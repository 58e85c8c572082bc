/**
 * What does a mailbox cost: messages a second through 1,000 actors, a backlog of 100,000 in one, and the heap of 100,000
 * actors? Beside it the alternative, a `Subject` with `concatMap`. Usage: node --expose-gc benchmarks/mailbox/run.ts [--runs 5]
 */
import { parseArgs } from 'node:util'
import { concatMap, EMPTY, Subject } from 'rxjs'
import type { ActorKind } from '../../engine/actor/actor.ts'
import { Mailbox, SharedTurn } from '../../engine/actor/mailbox.ts'
import { createActorSystem } from '../../engine/actor/system.ts'
import { systemClock } from '../../model/system-clock.ts'
import { spread, writeResult } from '../lib/report.ts'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '5' } } })
const runs = Number(values.runs)
const MESSAGES = 400_000
const ACTORS = 1000
const BACKLOG = 100_000
const MANY = 100_000

const turn = (): Promise<void> => new Promise((resolve) => systemClock.soon(resolve))

async function actorRate(): Promise<number> {
  const system = createActorSystem({ clock: systemClock, onError: () => undefined })
  let received = 0
  const kind: ActorKind<number> = {
    name: 'counter',
    create: () => ({ receive: (batch) => void (received += batch.length) }),
  }
  const actors = Array.from({ length: ACTORS }, (_, index) => system.spawn(kind, String(index)))
  const startedAt = performance.now()
  for (let message = 0; message < MESSAGES; message++) actors[message % ACTORS]?.tell(message)
  while (received < MESSAGES) await turn()
  const rate = (MESSAGES / (performance.now() - startedAt)) * 1000
  await system.close()
  return rate
}

async function subjectRate(): Promise<number> {
  let received = 0
  const subjects = Array.from({ length: ACTORS }, () => {
    const subject = new Subject<number>()
    const handle = async (): Promise<void> => void received++
    subject.pipe(concatMap(handle)).subscribe()
    return subject
  })
  const startedAt = performance.now()
  for (let message = 0; message < MESSAGES; message++) subjects[message % ACTORS]?.next(message)
  while (received < MESSAGES) await turn()
  return (MESSAGES / (performance.now() - startedAt)) * 1000
}

/** Microseconds a message of one backlog. */
async function mailboxBacklog(size: number): Promise<number> {
  const mailbox = new Mailbox<number>(new SharedTurn(systemClock), { capacity: size })
  let received = 0
  mailbox.batches.subscribe((batch) => {
    received += batch.length
  })
  const startedAt = performance.now()
  for (let message = 0; message < size; message++) mailbox.offer(message)
  while (received < size) await turn()
  return ((performance.now() - startedAt) * 1000) / size
}

async function subjectBacklog(size: number): Promise<number> {
  const subject = new Subject<number>()
  let received = 0
  subject.pipe(concatMap(async () => void received++)).subscribe()
  const startedAt = performance.now()
  for (let message = 0; message < size; message++) subject.next(message)
  while (received < size) await turn()
  return ((performance.now() - startedAt) * 1000) / size
}

/** Bytes of heap each; needs --expose-gc. */
async function heapEach(make: () => unknown): Promise<number | undefined> {
  if (globalThis.gc === undefined) return undefined
  globalThis.gc()
  const before = process.memoryUsage().heapUsed
  const kept = make()
  await turn()
  await turn()
  globalThis.gc()
  const bytes = Math.round((process.memoryUsage().heapUsed - before) / MANY)
  if (kept === undefined) throw new Error('nothing was made')
  return bytes
}

function manyActors(): unknown {
  const system = createActorSystem({ clock: systemClock, onError: () => undefined })
  const kind: ActorKind<number> = { name: 'device', create: () => ({ receive: () => undefined }) }
  for (let index = 0; index < MANY; index++) system.tell(kind, `device ${index}`, index)
  return system
}

function manySubjects(): unknown {
  return Array.from({ length: MANY }, (_, index) => {
    const subject = new Subject<number>()
    subject.pipe(concatMap(() => EMPTY)).subscribe()
    subject.next(index)
    return subject
  })
}

async function median(measure: () => Promise<number>): Promise<unknown> {
  await measure()
  const measured: number[] = []
  for (let run = 0; run < runs; run++) measured.push(Number((await measure()).toFixed(3)))
  return spread(measured)
}

writeResult('mailbox', `node --expose-gc benchmarks/mailbox/run.ts --runs ${runs}`, {
  messagesASecond: { actors: await median(actorRate), subjectsWithConcatMap: await median(subjectRate) },
  microsecondsAMessageOfBacklog: {
    mailbox: await median(() => mailboxBacklog(BACKLOG)),
    mailboxTenTimesAsLong: await median(() => mailboxBacklog(BACKLOG * 10)),
    subjectWithConcatMapTenthAsLong: await median(() => subjectBacklog(BACKLOG / 10)),
    subjectWithConcatMapHalfAsLong: await median(() => subjectBacklog(BACKLOG / 2)),
  },
  heapBytesEach: { actor: await heapEach(manyActors), subjectWithConcatMap: await heapEach(manySubjects) },
})
