/** Which messages were parked and are done with: a link that did not hear of it delivers them again. */
import type { Message } from '../../model/message.ts'
import { hashOf } from '../link/partition.ts'
import { NOBODYS_LANE, ParkedBlockWriter } from './parked-block.ts'

/** Of each kind, the newest, that outlast an erasure: a link notes within seconds what it need not deliver again. */
const MAX_KEPT = 5_000

export class DoneNotes {
  /** Sequence and hash of what was parked before this run. */
  private readonly before = new Map<number, number>()
  /** Of what was parked in this run: only the next one asks for it. */
  private readonly since = new Map<number, number>()

  get hasBefore(): boolean {
    return this.before.size > 0
  }

  add(sequence: number, idHash: number, isOld: boolean): void {
    if (isOld) this.before.set(sequence, idHash)
    else this.since.set(sequence, idHash)
    if (this.since.size <= MAX_KEPT) return
    for (const oldest of this.since.keys()) {
      this.since.delete(oldest)
      return
    }
  }

  has(message: Message): boolean {
    if (this.before.size === 0) return false
    const idHash = this.before.get(message.sequence)
    return idHash !== undefined && idHash === hashOf(message.id)
  }

  /** Blocks that say it without a word of whose messages these were; one at least, which may be empty. */
  *blocks(timeMs: number, blockBytes: number): Iterable<ReturnType<ParkedBlockWriter['finish']>> {
    let writer = new ParkedBlockWriter()
    for (const notes of [[...this.before].slice(-MAX_KEPT), this.since]) {
      for (const [sequence, idHash] of notes) {
        writer.done(NOBODYS_LANE, sequence, idHash)
        if (writer.bytes < blockBytes) continue
        yield writer.finish(timeMs)
        writer = new ParkedBlockWriter()
      }
    }
    yield writer.finish(timeMs)
  }
}
