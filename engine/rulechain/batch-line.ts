/**
 * What waits in front of a batch-aware node. Its promise: messages leave the node in the order in which they came, however
 * the batches overlap and in whatever order their outcomes are reported. Bounded by what is in flight in the queue, since
 * every one is a branch of an open work.
 */
import { RuleChainErrors } from './errors.ts'
import { isCancelled, type Branch } from './branch.ts'
import type { BatchResult, NodeInstance, NodeOutput, NodeVisit } from './node.ts'

export interface BatchLimits {
  /** Messages in one batch at most. */
  readonly batchSize: number
  /** Batches of one node under way at once: more than one keeps several workers busy. */
  readonly batchesInFlight: number
  /** Characters of messages up to which a node whose batches are gathered has further full ones under way. */
  readonly gatheredCharacters: number
}

/** What the line tells its chain. */
export interface LineListener {
  /** An outcome came in: `drain` has something to do. */
  wake(): void
  output(branch: Branch, output: NodeOutput): void
  failed(branch: Branch, error: unknown): void
  /** The batch is through: its size and how long it took. */
  finished(size: number, elapsedMs: number): void
  /** The batch's time is over, and the branch has no outcome. */
  timedOut(branch: Branch): void
  /** An outcome came after the batch's time was over. */
  late(): void
  /** How often the program has ticked. */
  ticks(): number
  /** A node broke its promise, such as reporting an outcome twice. */
  misbehaved(reason: string): void
  monotonic(): number
}

const PENDING = Symbol('no outcome yet')

class Failure {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

const TIMED_OUT = Symbol('no outcome in time')

type Outcome = typeof PENDING | typeof TIMED_OUT | Failure | NodeOutput

const NOBODY: readonly Branch[] = []

/** A count of ticks before the first. */
const NEVER = -1

class Batch implements BatchResult {
  /** Empty once all have left: a node that never ends the batch holds it for ever. */
  branches: readonly Branch[]
  readonly outcomes: Outcome[]
  readonly size: number
  /** How many have left the line. */
  left = 0
  /** Of its messages, where somebody counted them. */
  characters = 0
  readonly startedAt: number
  /** What it hands over is served in turn with that of other batches. */
  readonly isGathered: boolean
  /** The count of ticks at which its time began. */
  private since: number
  private open: number
  private openAtTick: number
  /** The tick at which the node was last seen to answer. */
  private movedAt = NEVER
  private isOver = false
  private isCutOff = false
  private readonly listener: LineListener

  constructor(branches: readonly Branch[], isGathered: boolean, listener: LineListener) {
    this.branches = branches
    this.isGathered = isGathered
    this.size = branches.length
    this.open = branches.length
    this.openAtTick = branches.length
    this.outcomes = new Array<Outcome>(branches.length).fill(PENDING)
    this.listener = listener
    this.startedAt = listener.monotonic()
    this.since = listener.ticks()
  }

  visit(index: number): NodeVisit {
    const branch = this.branches[index]
    if (branch === undefined) throw new RangeError(`no message ${index} in a batch of ${this.size}`)
    return branch.visit()
  }

  emit(index: number, output: NodeOutput): void {
    this.settle(index, output)
  }

  fail(index: number, error: Error): void {
    this.settle(index, new Failure(error))
  }

  /** The node has ended the batch: what it left open fails. */
  close(errorOf: () => unknown): void {
    if (this.isOver) return
    this.isOver = true
    for (let index = this.left; index < this.outcomes.length; index++) {
      if (this.outcomes[index] !== PENDING) continue
      this.outcomes[index] = new Failure(errorOf())
      this.movedAt = this.listener.ticks() + 1
    }
    this.listener.wake()
  }

  /**
   * Ends it where its time is over, which began with the last tick at which batches before it had moved. Returns the last at which it or one of
   * those had.
   */
  tick(movedBefore: number, expired: number, nowMs: number): number {
    const now = this.listener.ticks()
    if (this.isGathered && movedBefore > this.since) this.since = movedBefore
    if (this.since <= expired) this.cutOff()
    if (!this.isGathered) return NEVER
    if (movedBefore === now) this.postpone(nowMs)
    if (this.open < this.openAtTick) this.movedAt = now
    this.openAtTick = this.open
    return Math.max(movedBefore, this.movedAt)
  }

  /** The tick at which its last outcome was seen, of one that is through; {@link NEVER} where not all were the node's. */
  get servedAt(): number {
    return this.isCutOff ? NEVER : this.movedAt
  }

  private postpone(nowMs: number): void {
    for (let index = this.left; index < this.branches.length; index++) this.branches[index]?.work.postpone(nowMs)
  }

  /** Its time is over: what has no outcome gets none any more. */
  private cutOff(): void {
    if (this.isOver) return
    this.isOver = true
    this.isCutOff = true
    for (let index = this.left; index < this.outcomes.length; index++) {
      if (this.outcomes[index] === PENDING) this.outcomes[index] = TIMED_OUT
    }
    this.listener.wake()
  }

  countCharacters(): number {
    for (const { message } of this.branches) this.characters += message.data.length
    return this.characters
  }

  /** All have left. */
  release(): void {
    this.branches = NOBODY
  }

  private settle(index: number, outcome: Outcome): void {
    if (!Number.isInteger(index) || index < 0 || index >= this.outcomes.length) {
      return this.listener.misbehaved(`outcome for index ${index} of a batch of ${this.outcomes.length}`)
    }
    if (this.outcomes[index] === TIMED_OUT) return this.listener.late()
    if (this.outcomes[index] !== PENDING) return this.listener.misbehaved(`second outcome for index ${index}`)
    this.outcomes[index] = outcome
    if (--this.open === 0) this.movedAt = this.listener.ticks() + 1
    if (index === this.left) this.listener.wake()
  }
}

export class BatchLine {
  private waiting: Branch[] = []
  private readonly batches: Batch[] = []
  /** Of the messages in `batches`, where they are gathered. */
  private characters = 0
  /** The tick at which a batch that has left was last seen to move. */
  private leftMovedAt = NEVER
  private readonly limits: BatchLimits
  private readonly listener: LineListener
  private readonly nodeName: string

  constructor(nodeName: string, limits: BatchLimits, listener: LineListener) {
    this.nodeName = nodeName
    this.limits = limits
    this.listener = listener
  }

  join(branch: Branch): void {
    this.waiting.push(branch)
  }

  /** Hands what waits to the node, as far as the limits allow. */
  start(instance: NodeInstance): void {
    while (this.waiting.length > 0 && this.mayStart(instance)) {
      let branches = this.waiting
      if (branches.length > this.limits.batchSize) {
        branches = this.waiting.slice(0, this.limits.batchSize)
        this.waiting = this.waiting.slice(this.limits.batchSize)
      } else this.waiting = []
      if (branches.some(isCancelled)) branches = this.withoutCancelled(branches)
      if (branches.length === 0) continue
      const batch = new Batch(branches, instance.isGathered === true, this.listener)
      this.batches.push(batch)
      if (batch.isGathered) this.characters += batch.countCharacters()
      this.run(instance, batch)
    }
  }

  private mayStart({ isGathered }: NodeInstance): boolean {
    const { batchSize, batchesInFlight, gatheredCharacters } = this.limits
    if (this.batches.length < batchesInFlight) return true
    return isGathered === true && this.waiting.length >= batchSize && this.characters < gatheredCharacters
  }

  /**
   * Ends batches whose time began at `before` ticks or earlier, and lets go what nobody waits for any more. The time of a batch that is served
   * in turn with others begins when those before it have been, or no longer are.
   */
  expire(before: number): void {
    const nowMs = this.listener.monotonic()
    let movedAt = this.leftMovedAt
    for (const batch of this.batches) movedAt = batch.tick(movedAt, before, nowMs)
    if (movedAt === this.listener.ticks()) for (const { work } of this.waiting) work.postpone(nowMs)
    if (this.waiting.some(isCancelled)) this.waiting = this.withoutCancelled(this.waiting)
  }

  /** Lets go what has its outcome, in order, up to the first that has none. */
  drain(): void {
    for (let batch = this.batches[0]; batch !== undefined; batch = this.batches[0]) {
      while (batch.left < batch.size) {
        const outcome = batch.outcomes[batch.left]
        if (outcome === PENDING) return
        const branch = batch.branches[batch.left++]
        if (branch === undefined) continue
        if (outcome instanceof Failure) this.listener.failed(branch, outcome.error)
        else if (outcome === TIMED_OUT) this.listener.timedOut(branch)
        else this.listener.output(branch, outcome)
      }
      this.batches.shift()
      // Not when it leaves: it may have been served long before, and have waited for one in front of it.
      if (batch.isGathered) this.leftMovedAt = Math.max(this.leftMovedAt, batch.servedAt)
      this.characters -= batch.characters
      batch.release()
      this.listener.finished(batch.size, this.listener.monotonic() - batch.startedAt)
    }
  }

  /** What timed out while it waited does not enter the node. */
  private withoutCancelled(branches: readonly Branch[]): Branch[] {
    for (const branch of branches) if (isCancelled(branch)) this.listener.output(branch, undefined)
    return branches.filter((branch) => !isCancelled(branch))
  }

  private run(instance: NodeInstance, batch: Batch): void {
    const silent = (): unknown => RuleChainErrors.NODE_SILENT({ node: this.nodeName })
    try {
      const ended = instance.handleBatch?.(
        batch.branches.map((branch) => branch.message),
        batch,
      )
      if (ended === undefined) return batch.close(silent)
      ended.then(
        () => batch.close(silent),
        (error: unknown) => batch.close(() => error),
      )
    } catch (error) {
      batch.close(() => error)
    }
  }
}
