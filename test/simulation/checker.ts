/**
 * What must hold in every history of the engine, whatever fails:
 *
 * - what was acknowledged has its effects in the store, or is a dead letter with its body; nothing else is in the store
 * - what was refused is not processed by the run that refused it
 * - messages of one device start in their order; with one in flight, each starts when the one before is done with
 * - what was settled durably does not run again
 */
import assert from 'node:assert/strict'
import type { Message } from '../../model/message.ts'
import type { DeadLetter } from '../../engine/link/dead-letters.ts'

interface Sent {
  readonly device: number
  readonly counter: number
  readonly data: string
  outcome: 'unknown' | 'acknowledged' | 'refused'
  refusedInRun: number
}

/** What one run of the engine has done so far. */
class RunState {
  /** The counter that started last, by device; retries do not count. */
  readonly last = new Map<number, number>()
  readonly seen = new Set<string>()
  /** Settled or buried. */
  readonly done = new Set<string>()
}

export class Checker {
  acknowledged = 0
  refused = 0
  starts = 0
  private readonly sent = new Map<string, Sent>()
  private run = 0
  private state = new RunState()
  /** Ids in the order in which they were settled in this run, and up to where that is durable. */
  private settledHere: string[] = []
  private readonly settledDurably = new Set<string>()
  private readonly isStrict: boolean

  /** `isStrict`: one message of a device in flight at a time. */
  constructor(options: { readonly isStrict: boolean }) {
    this.isStrict = options.isStrict
  }

  newRun(): void {
    this.run++
    this.state = new RunState()
    this.settledHere = []
  }

  published(message: Message, device: number, counter: number): void {
    this.sent.set(message.id, { device, counter, data: message.data, outcome: 'unknown', refusedInRun: 0 })
  }

  /** Takes a mark of the settles so far: give it back with the acknowledgement of what was published now. */
  get settleMark(): number {
    return this.settledHere.length
  }

  stored(id: string, settleMark: number): void {
    const sent = this.known(id)
    assert.equal(sent.outcome, 'unknown', `${id} has one receipt`)
    sent.outcome = 'acknowledged'
    this.acknowledged++
    // Settles are written with the next frame at the latest: this frame is durable, so they are.
    for (const settled of this.settledHere.slice(0, settleMark)) this.settledDurably.add(settled)
  }

  wasRefused(id: string): void {
    const sent = this.known(id)
    assert.equal(sent.outcome, 'unknown', `${id} has one receipt`)
    sent.outcome = 'refused'
    sent.refusedInRun = this.run
    this.refused++
  }

  startedProcessing(message: Message): void {
    const sent = this.known(message.id)
    this.starts++
    assert.equal(message.data, sent.data, `${message.id} arrives as it was sent`)
    assert.ok(!this.settledDurably.has(message.id), `${message.id} was settled durably and runs again`)
    assert.ok(sent.outcome !== 'refused' || sent.refusedInRun !== this.run, `${message.id} was refused and runs`)
    if (this.state.seen.has(message.id)) return
    this.state.seen.add(message.id)
    const last = this.state.last.get(sent.device)
    if (last !== undefined) {
      const before = messageId(sent.device, last)
      assert.ok(sent.counter > last, `${message.id} starts behind ${before}`)
      assert.ok(!this.isStrict || this.state.done.has(before), `${message.id} starts before ${before} is done with`)
    }
    this.state.last.set(sent.device, sent.counter)
  }

  settled(messages: readonly Message[]): void {
    for (const { id } of messages) {
      this.settledHere.push(id)
      this.state.done.add(id)
    }
  }

  /** Done with, and durably so at a time of its own. */
  isOver(message: Message): void {
    this.state.done.add(message.id)
  }

  buried(message: Message): void {
    this.state.done.add(message.id)
  }

  closedCleanly(): void {
    for (const id of this.settledHere) this.settledDurably.add(id)
  }

  /** At the end, with everything settled. */
  finish(state: ReadonlyMap<string, string>, letters: readonly DeadLetter[]): void {
    const dead = new Map(letters.map(({ message }) => [message.id, message]))
    for (const [id, sent] of this.sent) {
      if (sent.outcome !== 'acknowledged') continue
      const letter = dead.get(id)
      if (letter !== undefined) {
        assert.equal(letter.data, sent.data, `the dead letter ${id} keeps its body`)
        continue
      }
      assert.ok(!isPoison(sent.data), `${id} is poison and must be a dead letter`)
      for (const effect of ['save', 'audit'])
        assert.equal(state.get(`${effect} ${id}`), sent.data, `${effect} of ${id}`)
    }
    for (const key of state.keys()) assert.ok(this.sent.has(key.slice(key.indexOf(' ') + 1)), `${key} was sent`)
  }

  private known(id: string): Sent {
    const sent = this.sent.get(id)
    assert.ok(sent !== undefined, `${id} was published`)
    return sent
  }
}

export function messageId(device: number, counter: number): string {
  return `device ${device} message ${counter}`
}

export function isPoison(data: string): boolean {
  return data.startsWith('{"poison"')
}
