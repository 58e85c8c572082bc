import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { ManualClock } from '../../actor/testkit.ts'
import { soleOwner, type PartitionOwners } from '../partition-owners.ts'
import { Answers } from './answers.ts'
import type { CallRequest, CallStatus, DeviceCall, Listening } from './call.ts'
import { createCallLine, type CallLine } from './line.ts'
import { OwnedCalls, type CallStore } from './owned-calls.ts'
import { SessionCalls, type CalledSession } from './session-calls.ts'

const DEVICE = 'd'

class RememberedCalls implements CallStore {
  readonly statuses: string[] = []
  stored: DeviceCall[] = []

  /** As the store of one that was kept and is over. */
  isOver = false

  accept(call: DeviceCall): Promise<boolean> {
    this.statuses.push(`${call.id} QUEUED`)
    return Promise.resolve(!this.isOver)
  }

  changed({ id }: DeviceCall, status: CallStatus, response?: string): Promise<void> {
    this.statuses.push(`${id} ${status}${response === undefined ? '' : ` ${response}`}`)
    return Promise.resolve()
  }

  waiting(): Promise<readonly DeviceCall[]> {
    return Promise.resolve(this.stored)
  }
}

class Session implements CalledSession {
  readonly id: number
  readonly deviceId = DEVICE
  readonly requests: CallRequest[] = []

  constructor(id: number) {
    this.id = id
  }

  called(request: CallRequest): void {
    this.requests.push(request)
  }

  get ids(): readonly number[] {
    return this.requests.map(({ id }) => id)
  }
}

let clock: ManualClock
let line: CallLine
let store: RememberedCalls
let owned: OwnedCalls
let sessions: SessionCalls
let answers: Answers
/** The partitions become another member's. */
let disown: () => void

beforeEach(() => {
  clock = new ManualClock()
  line = createCallLine({ self: 'me', clock })
  let isOwner = true
  const told: (() => void)[] = []
  const owners: PartitionOwners = {
    ...soleOwner('me'),
    ownerOf: () => (isOwner ? 'me' : 'another'),
    owns: () => isOwner,
    onChange(listener) {
      told.push(listener)
      return () => undefined
    },
  }
  disown = () => {
    isOwner = false
    for (const tell of told) tell()
  }
  store = new RememberedCalls()
  owned = new OwnedCalls({ line, owners, store, clock, report: () => assert.fail('the store answers') })
  let ids = 0
  sessions = new SessionCalls({ line, owners, clock, random: { next: () => 0, uuid: () => `reply ${++ids}` } })
  answers = new Answers(line, clock)
})
afterEach(() => {
  owned.close()
  sessions.close()
  answers.close()
})

async function listening(id: number, take: Listening = 'all'): Promise<Session> {
  const session = new Session(id)
  sessions.listen(session, take)
  await clock.settle()
  return session
}

async function called(id: string, change: Partial<DeviceCall> = {}): Promise<{ answer: string | undefined }> {
  const told: { answer: string | undefined } = { answer: undefined }
  const expirationTime = clock.now() + 10_000
  void answers.wait(id, 60_000).then((answer) => (told.answer = answer))
  const own = { tenantId: 't', deviceId: DEVICE, method: 'm', params: '{}', retries: null, additionalInfo: null }
  const call = { id, isOneway: false, isPersistent: false, expirationTime, origin: 'me', ...own, ...change }
  line.toOwner('me', { kind: 'call', call })
  await clock.settle()
  return told
}

describe('calls to devices', () => {
  test('count per device, reach every session that listens, and the answer reaches the caller', async () => {
    const first = await listening(1)
    const second = await listening(2)
    const outcome = await called('a')
    assert.deepEqual([first.ids, second.ids], [[0], [0]])
    assert.equal(outcome.answer, undefined)
    sessions.answered(DEVICE, 0, '{"v":1}')
    await clock.settle()
    assert.equal(outcome.answer, '{"response":"{\\"v\\":1}"}')
    await called('b')
    assert.deepEqual(first.ids, [0, 1])
  })

  test('reach the device with JSON, also where a chain gave a plain text', async () => {
    const session = await listening(1)
    const given = ['on', '12', '"on"', '[1.0]', '']
    for (const [i, params] of given.entries()) await called(String(i), { params })
    assert.deepEqual(
      session.requests.map(({ params }) => params),
      ['"on"', '12', '"on"', '[1.0]', 'null'],
    )
  })

  test('are not made again by a message that is delivered again', async () => {
    const session = await listening(1)
    await called('a')
    sessions.answered(DEVICE, 0, '1')
    await called('a')
    await called('p', { isPersistent: true })
    sessions.answered(DEVICE, 1, '1')
    store.isOver = true
    await called('p', { isPersistent: true })
    assert.deepEqual(session.ids, [0, 1])
  })

  test('one-way calls are answered once they are on their way', async () => {
    await listening(1)
    assert.equal((await called('a', { isOneway: true })).answer, '{}')
  })

  test('wait for a device that is away, in order, and tell apart what was never sent from what was not answered', async () => {
    const late = await called('late')
    const sent = await called('sent', { expirationTime: clock.now() + 20_000 })
    await clock.advance(10_000)
    assert.equal(late.answer, '{"error":"NO_ACTIVE_CONNECTION"}')
    const session = await listening(1)
    assert.deepEqual(session.ids, [1])
    await clock.advance(10_000)
    assert.equal(sent.answer, '{"error":"TIMEOUT"}')
  })

  test('a poll takes one call; the next poll gets the next, not the same again', async () => {
    await called('a')
    await called('b')
    const first = await listening(1, 'next')
    assert.deepEqual(first.ids, [0])
    sessions.delivered(DEVICE, 0, 'DELIVERED')
    const second = await listening(2, 'next')
    assert.deepEqual(second.ids, [1])
  })

  test('a redelivered call is one call, and an answer to an unknown one changes nothing', async () => {
    const session = await listening(1)
    await called('a')
    await called('a')
    assert.deepEqual(session.ids, [0])
    sessions.answered(DEVICE, 7, '{}')
    await clock.settle()
  })

  test('sessions that stopped get nothing', async () => {
    const session = await listening(1)
    sessions.stop(session)
    await called('a')
    assert.deepEqual(session.ids, [])
  })
})

describe('persistent calls', () => {
  test('are stored before the caller hears of it, and each step of the delivery is', async () => {
    await listening(1)
    const outcome = await called('p', { isPersistent: true })
    assert.equal(outcome.answer, '{"isKept":true}')
    sessions.delivered(DEVICE, 0, 'SENT')
    sessions.delivered(DEVICE, 0, 'DELIVERED')
    sessions.answered(DEVICE, 0, 'no json')
    await clock.settle()
    assert.deepEqual(store.statuses, ['p QUEUED', 'p SENT', 'p DELIVERED', 'p SUCCESSFUL {"error":"no json"}'])
  })

  test('that the device never confirms are tried again when it listens anew, as often as asked', async () => {
    await called('p', { isPersistent: true, retries: 1, expirationTime: clock.now() + 600_000 })
    const first = await listening(1)
    sessions.delivered(DEVICE, 0, 'SENT')
    await clock.advance(10_000)
    sessions.stop(first)
    const second = await listening(2)
    assert.deepEqual(second.ids, [0])
    sessions.delivered(DEVICE, 0, 'SENT')
    await clock.advance(10_000)
    assert.deepEqual(
      store.statuses.map((status) => status.split(' ')[1]),
      ['QUEUED', 'SENT', 'TIMEOUT', 'SENT', 'FAILED'],
    )
  })

  test('that the device never confirms come once more where its session listens anew, and no others', async () => {
    await called('p', { isPersistent: true, expirationTime: clock.now() + 600_000 })
    await called('q', { isPersistent: true, expirationTime: clock.now() + 600_000 })
    const session = await listening(1)
    sessions.delivered(DEVICE, 0, 'SENT')
    sessions.delivered(DEVICE, 1, 'DELIVERED')
    await clock.advance(9_000)
    sessions.listen(session, 'all')
    await clock.settle()
    assert.deepEqual(session.ids, [0, 1], 'it may still confirm')
    // It says again by itself that it listens, which changes nothing.
    await clock.advance(21_000)
    assert.deepEqual(session.ids, [0, 1])
    sessions.listen(session, 'all')
    await clock.settle()
    assert.deepEqual(session.ids, [0, 1, 0])
  })

  test('are looked for in the store once for all that listen in the same moment', async () => {
    const read = Promise.withResolvers<void>()
    let looks = 0
    store.waiting = async () => {
      looks++
      await read.promise
      return []
    }
    const session = await listening(1)
    for (let time = 0; time < 100; time++) sessions.listen(session, 'all')
    await clock.settle()
    read.resolve()
    await clock.settle()
    // The one that was under way, and one that begins behind it.
    assert.equal(looks, 2)
  })

  test('that a process before left are sent when the device listens; what is over is marked so', async () => {
    const kept = { tenantId: 't', deviceId: DEVICE, method: 'm', params: '1', retries: null, additionalInfo: null }
    const call = { ...kept, isOneway: true, isPersistent: true, origin: '' }
    store.stored = [
      { ...call, id: 'over', expirationTime: clock.now() - 1 },
      { ...call, id: 'open', expirationTime: clock.now() + 1000 },
    ]
    const session = await listening(1)
    assert.deepEqual(session.requests, [{ id: 0, method: 'm', params: '1' }])
    assert.deepEqual(store.statuses, ['over EXPIRED'])
    await clock.advance(1000)
    assert.deepEqual(store.statuses, ['over EXPIRED', 'open EXPIRED'])
  })

  for (const [what, isOneway, end] of [
    ['were taken', true, () => sessions.delivered(DEVICE, 0, 'DELIVERED')],
    ['were answered', false, () => sessions.answered(DEVICE, 0, '{}')],
    ['were withdrawn', false, () => line.toOwner('me', { kind: 'withdrawn', deviceId: DEVICE, callId: 'p' })],
  ] as const) {
    test(`that ${what} while the store was read are not sent again`, async () => {
      await called('p', { isPersistent: true, isOneway })
      const read = Promise.withResolvers<void>()
      const [tenantId, params] = ['t', '{}']
      const kept = { id: 'p', tenantId, deviceId: DEVICE, method: 'm', params, retries: null, additionalInfo: null }
      store.waiting = async () => {
        await read.promise
        return [{ ...kept, isOneway, isPersistent: true, origin: 'me', expirationTime: clock.now() + 10_000 }]
      }
      const session = await listening(1)
      assert.deepEqual(session.ids, [0])
      end()
      await clock.settle()
      read.resolve()
      await clock.settle()
      assert.deepEqual(session.ids, [0])
    })
  }

  test('that come again while they are stored are not sent again when they were taken meanwhile', async () => {
    const session = await listening(1)
    const looks = [Promise.withResolvers<boolean>(), Promise.withResolvers<boolean>()] as const
    let asked = 0
    store.accept = () => looks[asked++ === 0 ? 0 : 1].promise
    for (let time = 0; time < 2; time++) await called('p', { isPersistent: true, isOneway: true })
    looks[0].resolve(true)
    await clock.settle()
    assert.deepEqual([session.ids, asked], [[0], 2])
    sessions.delivered(DEVICE, 0, 'DELIVERED')
    await clock.settle()
    looks[1].resolve(true)
    await clock.settle()
    assert.deepEqual(session.ids, [0])
  })

  for (const [what, word] of [
    ['are withdrawn', { kind: 'withdrawn', deviceId: DEVICE, callId: 'p' }],
    ['are of a tenant whom the device left', { kind: 'moved', deviceId: DEVICE, formerTenantId: 't' }],
  ] as const) {
    test(`that ${what} while they are stored, or read, reach nobody`, async () => {
      const session = await listening(1)
      const stored = Promise.withResolvers<boolean>()
      store.accept = () => stored.promise
      await called('p', { isPersistent: true })
      line.toOwner('me', word)
      await clock.settle()
      stored.resolve(true)
      await clock.settle()
      assert.deepEqual(session.ids, [])

      const read = Promise.withResolvers<void>()
      const rest = { deviceId: DEVICE, method: 'm', params: '{}', retries: null, additionalInfo: null, isOneway: false }
      const kept = { ...rest, isPersistent: true, origin: 'me', expirationTime: clock.now() + 10_000 }
      store.waiting = async () => {
        await read.promise
        return [
          { ...kept, id: 'p', tenantId: 't' },
          { ...kept, id: 'n', tenantId: 'next' },
        ]
      }
      const other = await listening(2)
      line.toOwner('me', word)
      await clock.settle()
      read.resolve()
      await clock.settle()
      assert.deepEqual([session.ids, other.ids], [[0], [0]])
      assert.equal((await called('q', { isPersistent: true })).answer, '{"isKept":true}')
      assert.deepEqual(other.ids, [0, 1], 'what comes later is sent')
    })
  }

  for (const [what, end] of [
    ['the partition became another’s', () => disown()],
    ['the process closed', () => owned.close()],
  ] as const) {
    test(`that are read when ${what} are neither sent nor watched here`, async () => {
      const read = Promise.withResolvers<void>()
      const rest = { tenantId: 't', deviceId: DEVICE, method: 'm', params: '{}', retries: null, additionalInfo: null }
      store.waiting = async () => {
        await read.promise
        const expirationTime = clock.now() + 10_000
        return [{ ...rest, id: 'p', isOneway: false, isPersistent: true, origin: 'me', expirationTime }]
      }
      const session = await listening(1)
      end()
      const timers = clock.pendingTimers
      read.resolve()
      await clock.settle()
      assert.deepEqual([session.ids, clock.pendingTimers], [[], timers])
    })
  }

  test('that are stored when the process closed are not watched here', async () => {
    const stored = Promise.withResolvers<boolean>()
    store.accept = () => stored.promise
    await called('p', { isPersistent: true })
    owned.close()
    const timers = clock.pendingTimers
    stored.resolve(true)
    await clock.settle()
    assert.equal(clock.pendingTimers, timers - 1, 'the caller waits no more')
  })

  test('that are stored when the partition went are the new owner’s, and are not sent here', async (context) => {
    const session = await listening(1)
    const stored = Promise.withResolvers<boolean>()
    store.accept = () => stored.promise
    const outcome = await called('p', { isPersistent: true })
    disown()
    const timers = clock.pendingTimers
    const told = context.mock.method(line, 'toOwner')
    stored.resolve(true)
    await clock.settle()
    assert.deepEqual([session.ids, outcome.answer], [[], '{"isKept":true}'])
    assert.equal(clock.pendingTimers, timers - 1, 'the caller waits no more')
    const words = told.mock.calls.map(({ arguments: [member, word] }) => [member, word.kind])
    assert.deepEqual(words, [['another', 'call']])
  })

  test('that are withdrawn reach nobody', async () => {
    await called('p', { isPersistent: true })
    line.toOwner('me', { kind: 'withdrawn', deviceId: DEVICE, callId: 'p' })
    await clock.settle()
    assert.deepEqual((await listening(1)).ids, [])
  })

  test('of its former tenant do not reach a device that went to another one', async () => {
    await called('p', { isPersistent: true })
    const waits = await called('w')
    await called('n', { isPersistent: true, tenantId: 'next' })
    line.toOwner('me', { kind: 'moved', deviceId: DEVICE, formerTenantId: 't' })
    await clock.settle()
    assert.equal(waits.answer, '{"error":"NO_ACTIVE_CONNECTION"}')
    assert.deepEqual((await listening(1)).ids, [2])
  })
})

describe('calls by devices', () => {
  test('are answered by whoever names their place, or end with a timeout', async () => {
    const { replyId, reply } = sessions.expectReply(DEVICE)
    line.toTransport('me', { kind: 'reply', replyId, body: '{"now":1}' })
    await clock.settle()
    assert.equal(await reply, '{"now":1}')
    const late = sessions.expectReply(DEVICE)
    await clock.advance(60_000)
    assert.equal(await late.reply, '{"error":"timeout"}')
  })

  test('of one device that wait are bounded', () => {
    for (let index = 0; index < 100; index++) sessions.expectReply(DEVICE)
    assert.throws(() => sessions.expectReply(DEVICE), { code: 'device.TOO_MANY_CALLS' })
    sessions.expectReply('another')
  })
})
