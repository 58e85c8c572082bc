/**
 * Random races between a subscription that begins, and reads again, and two processes that commit: nothing is missed, a point that is shown twice is
 * the same point, and of what each store says exactly nothing is shown twice.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DataPoint } from '../../model/value.ts'
import { seededRandom, type SeededRandom } from '../../test/support/seeded-random.ts'
import { Rereads } from './rereads.ts'
import { TimeSeriesSelection } from './selection.ts'
import { Subscription } from './subscription.ts'
import { DEVICE, OPEN, point, settled, StepClock, TestStore } from './testkit.ts'

const SEEDS = 150
const STEPS = 60

/** Each writes its own key, at rising times; now and then it writes its newest point anew. */
type Key = 'own' | 'remote'

class Race {
  readonly shown = new Map<string, string[]>()
  readonly store = new TestStore()
  private readonly lags: boolean
  private readonly loses: boolean
  private readonly random: SeededRandom
  private readonly clock = new StepClock()
  private readonly untold: Record<Key, (() => void)[]> = { own: [], remote: [] }
  private readonly times: Record<Key, number> = { own: 0, remote: 0 }
  private value = 0
  private held = false
  private started: Promise<void> | undefined

  constructor(seed: number, lags: boolean, loses: boolean) {
    this.lags = lags
    this.loses = loses
    this.random = seededRandom(seed)
  }

  async run(): Promise<void> {
    for (let step = 0; step < STEPS; step++) await this.step()
    this.started ??= this.begin()
    this.release()
    for (const key of ['own', 'remote'] as const) while (this.untold[key].length > 0) this.tell(key)
    for (let count = 0; count < 10; count++) await this.turn()
    await this.started
    await this.turn()
  }

  private async step(): Promise<void> {
    const draw = this.random.next()
    if (draw < 0.35) this.commit(this.random.pick(['own', 'remote']))
    else if (draw < 0.65) this.tell(this.random.pick(['own', 'remote']))
    else if (draw < 0.7 && this.loses) this.lose()
    else if (draw < 0.75) this.hold()
    else if (draw < 0.82) this.release()
    else if (draw < 0.87) this.started ??= this.begin()
    else await this.turn()
    this.store.lag = this.lags ? Math.min(this.store.sequence, this.random.between(0, 3)) : 0
  }

  private commit(key: Key): void {
    const { points } = this.store
    const isAnew = this.times[key] > 0 && this.random.next() < 0.3
    const ts = isAnew ? this.times[key] : ++this.times[key]
    const written: DataPoint = point(key, ts, ++this.value)
    const sequence = ++this.store.sequence
    const place = points.findIndex((each) => each.key === key && each.ts === ts)
    points.splice(place < 0 ? points.length : place, place < 0 ? 0 : 1, { ...written, sequence })
    const origin = key === 'remote' ? { remote: true as const } : {}
    const change = { kind: 'telemetry', entity: DEVICE, sequence, ...origin, points: [written] } as const
    this.untold[key].push(() => this.store.feed.publish(change))
  }

  /** What a process commits it tells in that order; what it commits itself is told at once, one turn later at most. */
  private tell(key: Key): void {
    this.untold[key].shift()?.()
  }

  /** Something of the other process is lost, which its numbers show. */
  private lose(): void {
    if (this.untold.remote.shift() !== undefined) this.store.feed.gap()
  }

  private hold(): void {
    if (this.held) return
    this.held = true
    this.store.hold()
  }

  private release(): void {
    this.held = false
    this.store.release()
  }

  private async turn(): Promise<void> {
    for (let count = 0; count < 4; count++) await settled()
    this.clock.endTurn()
  }

  private begin(): Promise<void> {
    const { telemetry } = this.store.services
    const window = { startTs: 0, endTs: 1_000_000 }
    const query = { entity: DEVICE, keys: ['own', 'remote'], window, latestOnly: false, now: () => 0 }
    const host = {
      feed: this.store.feed,
      send: (text: string) => this.note(text),
      isSlow: false,
      whenDrained: () => undefined,
      atTurnEnd: (each: { flush(): void }) => this.clock.soon(() => each.flush()),
      rereads: new Rereads(this.clock, () => undefined).of('tenant'),
    }
    return new Subscription(7, 'time-series', DEVICE, new TimeSeriesSelection(telemetry, query), host, OPEN).start()
  }

  private note(text: string): void {
    const { data } = JSON.parse(text) as { data: Readonly<Record<string, readonly (readonly [number, string])[]>> }
    for (const [key, points] of Object.entries(data)) {
      for (const [ts, value] of points) {
        const name = `${key} ${ts}`
        this.shown.set(name, [...(this.shown.get(name) ?? []), value])
      }
    }
  }
}

for (const [name, lags, loses] of [
  ['a store that says exactly what its reads hold', false, false],
  ['a store whose reads hold more than they say', true, false],
  ['a feed that loses what another process told', true, true],
] as const) {
  test(`${name}: nothing is missed, and what is shown last is what is stored`, async () => {
    let repeated = 0
    for (let seed = 1; seed <= SEEDS; seed++) {
      const race = new Race(seed, lags, loses)
      await race.run()
      for (const { key, ts, value } of race.store.points) {
        const shown = race.shown.get(`${key} ${ts}`) ?? []
        assert.equal(shown.at(-1), String(value), `seed ${seed}: ${key} at ${ts} was shown as ${shown.join()}`)
        repeated += shown.length - new Set(shown).size
      }
    }
    if (lags) assert.ok(repeated > 0, 'the races are too tame')
    else assert.equal(repeated, 0, 'a point was shown twice though the store said exactly what it held')
  })
}
