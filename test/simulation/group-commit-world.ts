/**
 * One history of group commit: items of many weights join, the disk is slow, fails before or after it stored the group, or throws; the
 * commit may be closed in the middle. Checked at every answer and at every write:
 *
 * - each item has one answer; what was acknowledged is in the store, under the group that the answer names
 * - an error is that of the item's own group, or a refusal that its bounds call for; what was refused is never written
 * - one write at a time, items in their order, no group beyond its bound; no rest longer than its bound
 */
import assert from 'node:assert/strict'
import { ManualClock, SeededRandom } from '../../engine/actor/testkit.ts'
import { isMillraceError } from '../../model/errors.ts'
import { GroupCommit, type GroupRest } from '../../storage/group-commit.ts'

const ITEMS = 120
const LIMIT_MS = 600_000

interface Item {
  readonly number: number
  readonly weight: number
  readonly joinedAt: number
  group: number
  answer: 'none' | 'stored' | 'failed' | 'refused'
}

class DiskError extends Error {
  readonly group: number

  constructor(group: number) {
    super(`group ${group} failed`)
    this.group = group
  }
}

export async function live(seed: number): Promise<Readonly<Record<string, number>>> {
  const world = new GroupCommitWorld(seed)
  await world.run()
  return world.figures
}

class GroupCommitWorld {
  readonly figures = { items: 0, stored: 0, failed: 0, refused: 0, groups: 0 }
  private readonly clock = new ManualClock()
  private readonly random: SeededRandom
  private readonly maxPending: number
  private readonly maxGroup: number
  private readonly rest: GroupRest | undefined
  private readonly commit: GroupCommit<Item, number>
  private readonly items: Item[] = []
  private readonly store = new Map<Item, number>()
  private readonly failing: number
  private readonly maxLatencyMs: number
  private isWriting = false
  private isClosing = false
  private closedAt: number | undefined
  private lastWritten = 0
  private freeSince = 0
  private failure: { readonly error: unknown } | undefined

  constructor(seed: number) {
    const random = (this.random = new SeededRandom(seed))
    this.maxPending = 5 + random.below(60)
    this.maxGroup = 1 + random.below(30)
    this.failing = random.chance(0.3) ? 0 : random.next() * 0.6
    this.maxLatencyMs = random.chance(0.2) ? 0 : random.below(200)
    if (random.chance(0.5))
      this.rest = {
        factor: random.next() * 3,
        mostMs: random.below(300),
        leastTookMs: random.below(20),
        clock: this.clock,
      }
    this.commit = new GroupCommit({
      name: 'the store',
      maxPending: this.maxPending,
      maxGroup: this.maxGroup,
      write: (group) => this.write(group),
      ...(this.rest === undefined ? {} : { rest: this.rest }),
    })
  }

  async run(): Promise<void> {
    this.addLater()
    if (this.random.chance(0.4)) this.clock.after(this.random.below(4000), () => this.close())
    while (this.closedAt === undefined || this.clock.untilNextTimerMs !== undefined) {
      assert.ok(this.clock.monotonic() < LIMIT_MS, `stuck: ${JSON.stringify(this.figures)}`)
      await this.clock.advance(Math.max(0.01, this.clock.untilNextTimerMs ?? 10))
      if (this.failure !== undefined) throw this.failure.error
    }
    for (const item of this.items) {
      assert.notEqual(item.answer, 'none', `item ${item.number} has an answer`)
      if (item.answer === 'refused') assert.equal(item.group, 0, `item ${item.number} was refused and written`)
    }
    assert.equal(this.commit.pending, 0)
    assert.equal(this.commit.groupsWritten, this.figures.groups)
  }

  private watch(check: () => void): void {
    try {
      check()
    } catch (error) {
      this.failure ??= { error }
    }
  }

  private addLater(): void {
    if (this.items.length >= ITEMS) return this.close()
    this.clock.after(this.random.below(this.random.chance(0.2) ? 300 : 20), () => {
      for (let burst = 1 + this.random.below(8); burst > 0; burst--) this.add()
      this.addLater()
    })
  }

  private add(): void {
    const { random, commit, figures } = this
    const weight = random.chance(0.1) ? random.below(60) : 1 + random.below(4)
    const item: Item = {
      number: this.items.length + 1,
      weight,
      joinedAt: this.clock.monotonic(),
      group: 0,
      answer: 'none',
    }
    this.items.push(item)
    figures.items++
    const isFull = commit.pending > 0 && commit.pending + weight > this.maxPending
    const { isClosing } = this
    commit.add(item, weight).then(
      (group) =>
        this.watch(() => {
          this.answered(item, 'stored')
          assert.equal(this.store.get(item), group, `item ${item.number} was acknowledged as in group ${group}`)
        }),
      (error: unknown) =>
        this.watch(() => {
          if (error instanceof DiskError) {
            this.answered(item, 'failed')
            return assert.equal(error.group, item.group, `item ${item.number} failed with the group of others`)
          }
          this.answered(item, 'refused')
          const expected = isClosing ? 'group-commit.CLOSED' : isFull ? 'group-commit.FULL' : 'none'
          assert.equal(isMillraceError(error) ? error.code : String(error), expected, `item ${item.number}`)
        }),
    )
  }

  private answered(item: Item, answer: 'stored' | 'failed' | 'refused'): void {
    assert.equal(item.answer, 'none', `item ${item.number} has one answer`)
    item.answer = answer
    this.figures[answer]++
  }

  private write(group: readonly Item[]): Promise<number> {
    const number = ++this.figures.groups
    this.watch(() => this.checkGroup(group))
    for (const item of group) item.group = number
    this.isWriting = true
    const fails = this.random.chance(this.failing)
    const isStored = !fails || this.random.chance(0.3)
    if (fails && this.random.chance(0.1)) {
      this.written()
      throw new DiskError(number)
    }
    return new Promise((resolve, reject) => {
      this.clock.after(this.random.next() * this.maxLatencyMs, () => {
        if (isStored) for (const item of group) this.store.set(item, number)
        this.written()
        if (fails) reject(new DiskError(number))
        else resolve(number)
      })
    })
  }

  private written(): void {
    this.isWriting = false
    this.freeSince = this.clock.monotonic()
  }

  private checkGroup(group: readonly Item[]): void {
    assert.ok(!this.isWriting, 'one write at a time')
    assert.equal(this.closedAt, undefined, 'nothing is written after the close')
    const weight = group.reduce((sum, item) => sum + item.weight, 0)
    assert.ok(group.length === 1 || weight <= this.maxGroup, `a group of ${weight}, at most ${this.maxGroup}`)
    for (const { number, group: before } of group) {
      assert.equal(before, 0, `item ${number} is written once`)
      assert.ok(number > this.lastWritten, `item ${number} is written behind ${this.lastWritten}`)
      this.lastWritten = number
    }
    const waitedMs = this.clock.monotonic() - Math.max(this.freeSince, group[0]?.joinedAt ?? 0)
    const boundMs = this.isClosing ? 0 : (this.rest?.mostMs ?? 0)
    assert.ok(waitedMs <= boundMs + 1e-6, `rests for ${waitedMs} ms, at most ${boundMs}`)
  }

  private close(): void {
    if (this.isClosing) return
    this.isClosing = true
    this.freeSince = this.clock.monotonic()
    void this.commit.close().then(() => {
      this.closedAt = this.clock.monotonic()
      this.watch(() => {
        assert.ok(!this.isWriting, 'the close waits for the write')
        for (const item of this.items)
          assert.ok(item.answer !== 'none' || item.group > 0, `item ${item.number} was accepted and is not written`)
      })
    })
  }
}
