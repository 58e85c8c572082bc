/**
 * The rule chain actor: runs one chain's program on its mailbox's turns. A new version takes over between two messages: what
 * is under way ends on the old version while what comes waits in the mailbox, then the old version's nodes are closed.
 */
import type { Clock } from '../../model/clock.ts'
import type { RuleChain } from '../../model/entities.ts'
import { errorText } from '../../model/errors.ts'
import type { ActorKind, ActorRef } from '../actor/actor.ts'
import type { ActorSystem } from '../actor/system.ts'
import { RuleChainErrors } from './errors.ts'
import { Branch } from './branch.ts'
import type { EngineLog } from './node-context.ts'
import type { NodeInstance } from './node.ts'
import type { ChainProgram } from './program.ts'

/** A compiled version, or why the chain can not run. */
export type ChainVersion =
  | { readonly chain: RuleChain; readonly program: ChainProgram; readonly failure?: undefined }
  | {
      readonly chain: RuleChain
      readonly program?: undefined
      readonly failure: Error
      /** Asked for each batch: where it is so, the messages end well. */
      readonly isMeantEmpty?: () => Promise<boolean>
    }

export interface NodeTotals {
  received: number
  failed: number
  timedOut: number
  late: number
}

export function noTotals(): NodeTotals {
  return { received: 0, failed: 0, timedOut: 0, late: 0 }
}

export function add(totals: NodeTotals, more: Readonly<NodeTotals>): void {
  totals.received += more.received
  totals.failed += more.failed
  totals.timedOut += more.timedOut
  totals.late += more.late
}

export interface ChainActorSettings {
  /** Messages that wait for one chain at most. */
  readonly mailboxCapacity: number
  /** How long a new version waits for the old one's messages before it takes over without waiting any longer. */
  readonly drainTimeoutMs: number
}

export interface ChainActorParts {
  readonly actors: ActorSystem
  readonly clock: Clock
  readonly log: EngineLog
  readonly settings: ChainActorSettings
}

class Takeover {
  readonly version: Promise<ChainVersion>
  readonly done: (error?: Error) => void

  constructor(version: Promise<ChainVersion>, done: (error?: Error) => void) {
    this.version = version
    this.done = done
  }
}

/** A place in the mailbox: what was told before it has entered the program when it is passed, what was told after has not. */
class Gate {
  readonly pass: () => void | Promise<void>
  readonly cancel: () => void

  constructor(pass: () => void | Promise<void>, cancel: () => void) {
    this.pass = pass
    this.cancel = cancel
  }
}

type Mail = Branch | Takeover | Gate

export class RuleChainActor {
  private readonly parts: ChainActorParts
  private readonly id: string
  private readonly ref: ActorRef<Mail>
  /** In the mailbox now. */
  private gates = 0
  private version: ChainVersion | undefined
  /** Of nodes that are no longer in the chain. */
  private readonly past: NodeTotals = noTotals()
  private closing: Promise<void> | undefined

  constructor(parts: ChainActorParts, id: string) {
    this.parts = parts
    this.id = id
    this.ref = parts.actors.spawn(this.kind(), id)
  }

  /** Messages that entered nodes and failed in them, over all versions: these never go down. */
  totals(): NodeTotals {
    const totals = { ...this.past }
    for (const node of this.version?.program?.nodes ?? []) add(totals, node)
    return totals
  }

  get program(): ChainProgram | undefined {
    return this.version?.program
  }

  /** Undefined when the chain has it; otherwise why not. */
  send(branch: Branch): Error | undefined {
    if (this.ref.tell(branch)) return undefined
    if (this.closing !== undefined) return RuleChainErrors.CLOSED()
    const limit = this.parts.settings.mailboxCapacity
    return RuleChainErrors.CHAIN_FULL({ chain: this.version?.chain.name ?? this.id, waiting: limit, limit })
  }

  /**
   * Resolves when the version has taken over. What comes in while the promise is open waits: hand in a compiled version to
   * keep the old one running meanwhile. Rejects `CLOSED`.
   */
  takeOver(version: Promise<ChainVersion>): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const takeover = new Takeover(version, (error) => (error === undefined ? resolve() : reject(error)))
      if (!this.ref.tellUrgent(takeover)) reject(RuleChainErrors.CLOSED())
    }).catch(async (error: unknown) => {
      await this.discard(await version)
      throw error
    })
  }

  /** Resolves when all that it was told so far is done, or after the time that a new version would wait for it. It goes on meanwhile. */
  passed(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.parts.clock.after(this.parts.settings.drainTimeoutMs, resolve)
      const done = (): void => {
        timer.cancel()
        resolve()
      }
      const program = (): Promise<void> => this.version?.program?.whenIdle() ?? Promise.resolve()
      this.put(new Gate(() => void program().then(done), done))
    })
  }

  /** What it is told from now on waits until then. */
  waitFor(until: Promise<void>): void {
    this.put(
      new Gate(
        () => until,
        () => undefined,
      ),
    )
  }

  private put(gate: Gate): void {
    if (this.ref.tell(gate)) this.gates++
    else gate.cancel()
  }

  /** Takes nothing more, lets what is under way end, closes the nodes. Idempotent. */
  close(): Promise<void> {
    return (this.closing ??= this.closeNow())
  }

  private async closeNow(): Promise<void> {
    await this.ref.stop()
    const program = this.version?.program
    if (program === undefined) return
    await this.drained(program)
    await this.closeNodes(program, new Set())
  }

  /** The version never ran, and never will: what it has in common with the present one stays. */
  private async discard({ program }: ChainVersion): Promise<void> {
    if (program !== undefined) await this.closeNodes(program, instancesOf(this.version?.program))
  }

  private kind(): ActorKind<Mail> {
    return {
      name: 'rule-chain',
      capacity: this.parts.settings.mailboxCapacity,
      create: () => ({ receive: (batch) => this.receive(batch) }),
      batchFailed: (_id, batch, error) => this.answerFor(batch, error),
    }
  }

  /** A batch holds takeovers, or branches and gates: these come in by different lanes. */
  private receive(batch: readonly Mail[]): void | Promise<void> {
    if (isTakeovers(batch)) return this.change(batch)
    return this.gates > 0 ? this.passGates(batch) : this.run(batch as readonly Branch[])
  }

  private async passGates(batch: readonly Mail[]): Promise<void> {
    let branches: Branch[] = []
    for (const mail of batch) {
      if (mail instanceof Branch) branches.push(mail)
      if (!(mail instanceof Gate)) continue
      this.gates--
      if (branches.length > 0) await this.run(branches)
      branches = []
      await mail.pass()
    }
    if (branches.length > 0) await this.run(branches)
  }

  private run(branches: readonly Branch[]): void | Promise<void> {
    if (this.version?.program !== undefined) return this.version.program.turn(branches)
    const error =
      this.version?.failure ?? RuleChainErrors.CHAIN_FAILED({ chain: this.id, reason: 'it was never loaded' })
    const isMeantEmpty = this.version?.isMeantEmpty
    if (isMeantEmpty === undefined) return endAll(branches, error)
    return isMeantEmpty().then(
      (isMeant) => endAll(branches, isMeant ? undefined : error),
      () => endAll(branches, error),
    )
  }

  private async change(takeovers: readonly Takeover[]): Promise<void> {
    for (const takeover of takeovers) {
      const next = await takeover.version
      const old = this.version?.program
      const isDrained = old === undefined || (await this.drained(old))
      this.version = next
      if (old !== undefined) this.handOverFigures(old, next.program)
      takeover.done()
      if (old !== undefined) this.retire(old, next.program, isDrained)
    }
  }

  private handOverFigures(old: ChainProgram, next: ChainProgram | undefined): void {
    const successors = new Map(next?.nodes.map((node) => [node.record.id, node]))
    for (const node of old.nodes) {
      const successor = successors.get(node.record.id)
      if (successor === undefined) add(this.past, node)
      else successor.continueFrom(node)
    }
  }

  private retire(old: ChainProgram, next: ChainProgram | undefined, isDrained: boolean): void {
    const kept = instancesOf(next)
    const fields = { ruleChainId: this.id, ruleChain: old.chainName }
    if (!isDrained)
      this.parts.log('warn', 'a new rule chain version took over while messages of the old one hang', fields)
    void old.whenIdle().then(() => this.closeNodes(old, kept))
  }

  /** False where messages were still under way when the time was over. */
  private drained(program: ChainProgram): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.parts.clock.after(this.parts.settings.drainTimeoutMs, () => resolve(false))
      void program.whenIdle().then(() => {
        timer.cancel()
        resolve(true)
      })
    })
  }

  private async closeNodes(program: ChainProgram, kept: ReadonlySet<NodeInstance>): Promise<void> {
    program.retire()
    for (const node of program.nodes) {
      if (node.instance === undefined || kept.has(node.instance)) continue
      try {
        await node.instance.close?.()
      } catch (error) {
        const fields = { ruleChainId: this.id, ruleNodeId: node.record.id, reason: errorText(error) }
        this.parts.log('error', 'a rule node did not close', fields)
      }
    }
  }

  /** What the chain will not see ends with the reason: the queue decides what becomes of it. */
  private answerFor(batch: readonly Mail[], cause: unknown): void {
    const error = RuleChainErrors.CLOSED(undefined, cause)
    for (const mail of batch) {
      if (mail instanceof Branch) mail.work.end(error)
      else if (mail instanceof Gate) mail.cancel()
      else mail.done(error)
    }
  }
}

function instancesOf(program: ChainProgram | undefined): ReadonlySet<NodeInstance> {
  const instances = new Set<NodeInstance>()
  for (const node of program?.nodes ?? []) if (node.instance !== undefined) instances.add(node.instance)
  return instances
}

function endAll(branches: readonly Branch[], error: Error | undefined): void {
  for (const { work } of branches) work.end(error)
}

function isTakeovers(batch: readonly Mail[]): batch is readonly Takeover[] {
  return batch[0] instanceof Takeover
}
