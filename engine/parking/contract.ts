/** What every store of parked messages promises. An implementation's test is a call of {@link testParkedStore}. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../model/message.ts'
import { message } from '../link/testkit.ts'
import { hashOf } from '../link/partition.ts'
import type { LaneNote } from './parked-block.ts'
import type { ParkedStore } from './parked-store.ts'
import type { StoredLane } from './stored-lane.ts'

/** One store under test, with the ways in which it can end. */
export interface StoreUnderTest {
  readonly store: ParkedStore
  /** Leaves it as a killed process would and opens what it left. */
  readonly crash: () => Promise<StoreUnderTest>
  readonly close: () => Promise<void>
  /** Whether a file of the medium holds the text; undefined where the files are not this machine's. */
  readonly holds: (text: string) => Promise<boolean | undefined>
}

const TENANT = 'b0000000-0000-4000-8000-000000000001'

function noteOf(device: number, why = 'it failed'): LaneNote {
  const { originator } = message({ device })
  return { queueName: 'Main', key: originator.id, tenantId: TENANT, originatorType: 'DEVICE', why, sinceMs: 1_700_000 }
}

let sequence = 1000

function parkable(device: number, data: string): Message {
  const made = message({ device, data, tenantId: TENANT })
  made.sequence = ++sequence
  return made
}

async function texts(store: ParkedStore, lane: StoredLane | undefined): Promise<(string | undefined)[]> {
  const messages = await Promise.all((lane?.entries ?? []).map((entry) => store.read(entry)))
  return messages.map((each) => each?.data)
}

export function testParkedStore(name: string, open: () => Promise<StoreUnderTest>): void {
  test(`${name}: what is parked is there after a crash, in order, under its sequences, with its tries and its reason`, async () => {
    const first = await open()
    const { store } = first
    const lanes = [1, 2, 3].map((device) => store.openLane(noteOf(device, `reason ${device}`)))
    const parked: Message[] = []
    const appended = Array.from({ length: 90 }, (_, index) => {
      const each = parkable(1 + (index % 3), `${index}`)
      parked.push(each)
      const lane = lanes[index % 3]
      assert.ok(lane !== undefined)
      return store.append(lane, each, index < 3 ? 4 : 1)
    })
    await Promise.all(appended)
    const second = await first.crash()
    for (const device of [1, 2, 3]) {
      const note = noteOf(device)
      const lane = second.store.lane('Main', note.key)
      assert.ok(lane !== undefined)
      const own = parked.filter(({ originator }) => originator.id === note.key)
      assert.deepEqual([lane.why, lane.sinceMs, lane.tenantId], [`reason ${device}`, note.sinceMs, TENANT])
      assert.deepEqual(
        lane.entries.map((entry) => [entry.sequence, entry.attempt]),
        own.map((each, index) => [each.sequence, index === 0 ? 4 : 1]),
      )
      for (const [index, entry] of lane.entries.entries()) {
        const before = own[index]
        assert.deepEqual({ ...(await second.store.read(entry)) }, { ...before })
      }
      assert.ok(lane.bytes > 30 * 200 && lane.bytes < 30 * 2000, `${lane.bytes} bytes`)
    }
    await second.close()
  })

  test(`${name}: what is done with is gone after a crash, and known as done with; tries are those that were noted`, async () => {
    const first = await open()
    const lane = first.store.openLane(noteOf(1))
    const parked = ['a', 'b', 'c'].map((data) => parkable(1, data))
    await Promise.all(parked.map((each) => first.store.append(lane, each, 2)))
    const [a, b] = lane.entries
    const [doneOne, second, third] = parked
    assert.ok(
      a !== undefined && b !== undefined && doneOne !== undefined && second !== undefined && third !== undefined,
    )
    await first.store.done(lane, a)
    await first.store.tried(lane, b, 7)
    const reopened = await first.crash()
    const after = reopened.store.lane('Main', lane.key)
    assert.deepEqual(await texts(reopened.store, after), ['b', 'c'])
    assert.deepEqual(
      after?.entries.map(({ attempt }) => attempt),
      [7, 2],
    )
    assert.equal(reopened.store.wasDone(doneOne), true)
    assert.equal(reopened.store.wasDone(second), false)
    const another = parkable(1, 'another message under an old sequence')
    another.sequence = doneOne.sequence
    assert.equal(reopened.store.wasDone(another), false)
    const [old] = after?.entries ?? []
    assert.ok(after !== undefined && old !== undefined)
    await reopened.store.done(after, old)
    assert.equal(reopened.store.wasDone(second), true, 'done with in this run')
    assert.equal(reopened.store.wasDone(third), false)
    await reopened.close()
  })

  test(`${name}: a message that is appended twice is there once`, async () => {
    const first = await open()
    const lane = first.store.openLane(noteOf(1))
    const [one, two] = [parkable(1, 'one'), parkable(1, 'two')]
    await Promise.all([first.store.append(lane, one, 1), first.store.append(lane, one, 1)])
    await first.store.append(lane, two, 1)
    await first.store.append(lane, one, 1)
    assert.deepEqual(await texts(first.store, lane), ['one', 'two'])
    const second = await first.crash()
    assert.deepEqual(await texts(second.store, second.store.lane('Main', lane.key)), ['one', 'two'])
    await second.close()
  })

  test(`${name}: one message that stays for ever does not keep what is done with behind it`, async () => {
    const first = await open()
    const { store } = first
    const stuck = store.openLane(noteOf(1))
    await store.append(stuck, parkable(1, 'for ever'), 3)
    const lane = store.openLane(noteOf(2))
    const body = 'x'.repeat(2000)
    for (let round = 0; round < 60; round++) {
      const some = Array.from({ length: 20 }, () => parkable(2, body))
      await Promise.all(some.map((each) => store.append(lane, each, 1)))
      const entries = some.flatMap((each) => lane.find(each.sequence, hashOf(each.id)) ?? [])
      await Promise.all(entries.map((entry) => store.done(lane, entry)))
    }
    assert.ok(store.bytes < 600_000, `${store.bytes} bytes for one small message`)
    const second = await first.crash()
    const after = second.store.lane('Main', stuck.key)
    assert.deepEqual(await texts(second.store, after), ['for ever'])
    assert.deepEqual(
      after?.entries.map(({ attempt }) => attempt),
      [3],
    )
    assert.equal(second.store.lane('Main', lane.key), undefined)
    await second.close()
  })

  test(`${name}: of what is done with no file holds anything once it is erased; others stay in order, with their tries, also those that come meanwhile`, async () => {
    const first = await open()
    const { store } = first
    const erased = store.openLane(noteOf(1, 'REASON_OF_THE_ERASED'))
    const lanes = [2, 3].map((device) => store.openLane(noteOf(device)))
    const gone: Message[] = []
    const kept: Message[][] = [[], []]
    const park = (index: number, data: string): Promise<void> => {
      const [lane, own] = [lanes[index], kept[index]]
      assert.ok(lane !== undefined && own !== undefined)
      const made = parkable(2 + index, data)
      own.push(made)
      return store.append(lane, made, 3)
    }
    for (let round = 0; round < 30; round++) {
      const made = parkable(1, `MARKER_OF_THE_ERASED ${'x'.repeat(3000)}`)
      gone.push(made)
      await Promise.all([store.append(erased, made, 1), park(0, `a ${round}`), park(1, `b ${round}`)])
    }
    for (const entry of [...erased.entries]) await store.done(erased, entry)
    const markers = ['MARKER_OF_THE_ERASED', 'REASON_OF_THE_ERASED', erased.key]
    const held = await Promise.all(markers.map((marker) => first.holds(marker)))
    assert.ok(!held.includes(false), 'nothing was there to be erased')
    const erasing = store.eraseDone()
    const meanwhile = Array.from({ length: 20 }, (_, round) => park(round % 2, `meanwhile ${round}`))
    assert.deepEqual(await erasing, { isGone: true })
    await Promise.all(meanwhile)
    const look = async (now: StoreUnderTest): Promise<void> => {
      for (const marker of markers) assert.ok((await now.holds(marker)) !== true, marker)
      for (const [index, own] of kept.entries()) {
        const lane = now.store.lane('Main', noteOf(2 + index).key)
        assert.deepEqual(
          await texts(now.store, lane),
          own.map(({ data }) => data),
        )
        assert.ok(lane?.entries.every(({ attempt }) => attempt === 3))
      }
    }
    await look(first)
    const second = await first.crash()
    await look(second)
    assert.ok(
      gone.every((made) => second.store.wasDone(made)),
      'a link that did not hear of it delivers it again',
    )
    await second.close()
  })

  test(`${name}: where nothing was ever parked, all is gone`, async () => {
    const { store, close } = await open()
    assert.deepEqual(await store.eraseDone(), { isGone: true })
    await close()
  })

  test(`${name}: where all is done with, nothing stays but that`, async () => {
    const first = await open()
    const lane = first.store.openLane(noteOf(1))
    const made = parkable(1, 'MARKER_OF_THE_LAST')
    await first.store.append(lane, made, 1)
    const [entry] = lane.entries
    assert.ok(entry !== undefined)
    // The note that it is done with comes behind the erasure that it did not wait for.
    const erasing = first.store.eraseDone()
    await first.store.done(lane, entry)
    await erasing
    assert.deepEqual(await first.store.eraseDone(), { isGone: true })
    for (const text of ['MARKER_OF_THE_LAST', lane.key]) assert.ok((await first.holds(text)) !== true, text)
    const second = await first.crash()
    assert.deepEqual([[...second.store.lanes()], second.store.wasDone(made)], [[], true])
    await second.close()
  })

  test(`${name}: a large message is parked and read`, async () => {
    const first = await open()
    const lane = first.store.openLane(noteOf(1))
    await first.store.append(lane, parkable(1, 'y'.repeat(900_000)), 1)
    const second = await first.crash()
    const [data] = await texts(second.store, second.store.lane('Main', lane.key))
    assert.equal(data?.length, 900_000)
    await second.close()
  })

  test(`${name}: closed, it takes nothing and says so`, async () => {
    const { store, close } = await open()
    const lane = store.openLane(noteOf(1))
    await close()
    await assert.rejects(store.append(lane, parkable(1, 'late'), 1), /parked messages of partition .* are closed/)
  })
}
