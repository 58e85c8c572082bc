import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../../actor/testkit.ts'
import { Stamper, type UnstampedMessage } from './stamper.ts'

interface Frame {
  readonly storedAt: number
  readonly messages: readonly UnstampedMessage[]
}

const START = 1_700_000_000_000

/** Bursts, pauses, clocks that stand and go back, uploads of several elements. */
function randomLog(random: SeededRandom): readonly Frame[] {
  let clock = START
  let before: string | undefined
  return Array.from({ length: 1 + random.below(60) }, () => {
    clock += random.chance(0.2) ? -random.below(500) : random.below(random.chance(0.3) ? 2 : 400)
    const messages: UnstampedMessage[] = []
    const count = random.below(random.chance(0.1) ? 600 : 20)
    for (let index = 0; index < count; index++) {
      const isSameUpload = before !== undefined && random.chance(0.2)
      const deviceId: string = isSameUpload && before !== undefined ? before : `d${random.below(6)}`
      messages.push({ deviceId, isSameUpload })
      before = deviceId
    }
    return { storedAt: clock, messages }
  })
}

test('stamps of a device rise, an upload has one, and none lies before the time of its frame', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const stamper = new Stamper()
    const last = new Map<string, number>()
    let time = 0
    for (const { storedAt, messages } of randomLog(new SeededRandom(seed))) {
      const begun = new Set<string>()
      time = Math.max(time, storedAt)
      const stamps = stamper.stamp(storedAt, messages)
      for (const [index, { deviceId, isSameUpload }] of messages.entries()) {
        const stamp = stamps[index] ?? 0
        const before = last.get(deviceId) ?? 0
        assert.ok(stamp >= time, `seed ${seed}`)
        // One whose first element is in no frame or in another may follow an upload that is not its own.
        if (isSameUpload && begun.has(deviceId)) assert.equal(stamp, before, `seed ${seed}`)
        // As early as it may be: a device that sends slowly gets the time itself.
        else assert.equal(stamp, Math.max(time, before + 1), `seed ${seed}`)
        last.set(deviceId, stamp)
        begun.add(deviceId)
      }
    }
  }
})

test('a log that is read again from any frame gets the same stamps, with a note of few devices', () => {
  for (let seed = 1; seed <= 100; seed++) {
    const log = randomLog(new SeededRandom(seed))
    const stamper = new Stamper()
    const first = log.map(({ storedAt, messages }) => {
      const note = stamper.note()
      return { note: JSON.stringify(note), stamps: stamper.stamp(storedAt, messages) }
    })
    for (const [from, { note }] of first.entries()) {
      const again = new Stamper(JSON.parse(note) as ReturnType<Stamper['note']>)
      for (const [index, { storedAt, messages }] of log.slice(from).entries()) {
        assert.deepEqual(again.stamp(storedAt, messages), first[from + index]?.stamps, `seed ${seed} from ${from}`)
      }
    }
  }
})

test('more devices ahead than a note may hold move the time of the stream, the same on a replay', () => {
  const MAX = 4
  for (let seed = 1; seed <= 200; seed++) {
    const log = randomLog(new SeededRandom(seed))
    const stamper = new Stamper(undefined, MAX)
    const first = log.map(({ storedAt, messages }) => {
      const note = stamper.note()
      assert.ok(note.floors.length <= MAX, `seed ${seed}`)
      return { note: JSON.stringify(note), stamps: stamper.stamp(storedAt, messages) }
    })
    for (const [from, { note }] of first.entries()) {
      const again = new Stamper(JSON.parse(note) as ReturnType<Stamper['note']>, MAX)
      const last = new Map<string, number>()
      for (const [index, { storedAt, messages }] of log.slice(from).entries()) {
        const stamps = again.stamp(storedAt, messages)
        assert.deepEqual(stamps, first[from + index]?.stamps, `seed ${seed} from ${from}`)
        for (const [place, { deviceId, isSameUpload }] of messages.entries()) {
          const stamp = stamps[place] ?? 0
          if (!isSameUpload) assert.ok(stamp > (last.get(deviceId) ?? 0), `seed ${seed}`)
          last.set(deviceId, stamp)
        }
      }
    }
  }
})

test('100,000 devices that send at their pace leave no floor behind', () => {
  const stamper = new Stamper()
  for (let index = 0; index < 100_000; index++)
    stamper.stamp(START + index, [{ deviceId: `d${index}`, isSameUpload: false }])
  assert.equal(stamper.note().floors.length, 1)
})

test('issue-8 D: no stamp is a time that the device gave itself before, however far ahead of the clock that is', () => {
  const stamper = new Stamper()
  const device = { deviceId: 'd', isSameUpload: false }
  stamper.stamp(START, [
    { ...device, ts: START + 10 },
    { ...device, ts: START + 11 },
    { ...device, ts: START - 5 },
  ])
  assert.deepEqual(stamper.stamp(START + 10, [device, { ...device, deviceId: 'other' }]), [START + 12, START + 10])
  // One that comes in the same frame, and one that an earlier stamp has: the device overwrites what it names.
  const frame = [{ ...device, ts: START + 13 }, device, { ...device, ts: START + 14 }, device]
  assert.deepEqual(stamper.stamp(START + 11, frame), [START + 13, START + 14, START + 14, START + 15])
})

test('issue-8 D: stamps beside given times are the same when the log is read again, also where too many are given', () => {
  const MAX_GIVEN = 6
  for (let seed = 1; seed <= 150; seed++) {
    const random = new SeededRandom(1000 + seed)
    const log = randomLog(new SeededRandom(seed)).map(({ storedAt, messages }) => ({
      storedAt,
      messages: messages.map((message) =>
        random.chance(0.3) ? { ...message, ts: Math.floor(storedAt) + random.below(40) - 5 } : message,
      ),
    }))
    const stamper = new Stamper(undefined, undefined, MAX_GIVEN)
    const first = log.map(({ storedAt, messages }) => {
      const note = stamper.note()
      assert.ok((note.given?.length ?? 0) <= MAX_GIVEN, `seed ${seed}`)
      return { note: JSON.stringify(note), stamps: stamper.stamp(storedAt, messages) }
    })
    for (const [from, { note }] of first.entries()) {
      const again = new Stamper(JSON.parse(note) as ReturnType<Stamper['note']>, undefined, MAX_GIVEN)
      for (const [index, { storedAt, messages }] of log.slice(from).entries()) {
        assert.deepEqual(again.stamp(storedAt, messages), first[from + index]?.stamps, `seed ${seed} from ${from}`)
      }
    }
  }
})
