/**
 * Where the parked messages of one partition are kept: a log of blocks. `disk-parked-log.ts` has segments on disk,
 * `nats-parked-log.ts` a JetStream stream.
 */
import type { Erased } from '../../model/erased.ts'

export interface ParkedLog {
  /**
   * Hands over the body of every whole block, in the order of their places. Once, before anything else. What is not sure to be durable was being
   * written when the run before ended: a sync after a failed one proves nothing.
   */
  load(visit: (place: number, body: Buffer, isSure: boolean) => void): Promise<void>
  /**
   * Resolves with the block's place once it is durable. Places rise. Throws what the medium throws: whether the block is there is
   * then unknown, and it may be appended again. Throws FENCED of the link where another process has the partition by now.
   */
  append(block: Buffer): Promise<number>
  /** The body of a block; undefined where it is damaged. */
  read(place: number): Promise<Buffer | undefined>
  /** What stands before `place` may go. The last block stays. */
  trim(place: number): Promise<void>
  /** What is appended from now on stands in no file with anything of before. Throws what the medium throws. */
  roll(): Promise<void>
  /** As `trim`, of all that was there at the last `roll`; says whether files still hold anything of it. */
  eraseBefore(place: number): Promise<Erased>
  close(): Promise<void>
}
