/**
 * Which chain is the root of each tenant. One that is asked for becomes it once its version runs: before, messages would go through the
 * version before it, and one that was empty, or saved nothing, would have settled them.
 */
import type { RuleChain } from '../../model/entities.ts'
import type { RuleChainActor } from './chain-actor.ts'

type Chain = Pick<RuleChain, 'id' | 'tenantId' | 'root'>

export class TenantRoots {
  private readonly roots = new Map<string, string>()
  /** What each tenant asked for last: it may not run yet. */
  private readonly wanted = new Map<string, string>()
  private readonly actorOf: (ruleChainId: string) => RuleChainActor | undefined

  constructor(actorOf: (ruleChainId: string) => RuleChainActor | undefined) {
    this.actorOf = actorOf
  }

  of(tenantId: string): string | undefined {
    return this.roots.get(tenantId)
  }

  /** A chain is loaded. */
  want({ root, tenantId, id }: Chain): void {
    if (root) this.wanted.set(tenantId, id)
  }

  /** The first version of a chain is made: without a root before it, messages wait for it in its mailbox. */
  waitFor({ root, tenantId, id }: Chain): void {
    if (root && !this.roots.has(tenantId)) this.roots.set(tenantId, id)
  }

  /** A version of the chain runs. */
  runs({ root, tenantId, id }: Chain): void {
    if (root && this.wanted.get(tenantId) === id && this.actorOf(id) !== undefined) this.change(tenantId, id)
  }

  /** Undefined: none. */
  set(tenantId: string, ruleChainId: string | undefined): void {
    if (ruleChainId === undefined) {
      for (const roots of [this.roots, this.wanted]) roots.delete(tenantId)
    } else {
      this.wanted.set(tenantId, ruleChainId)
      this.change(tenantId, ruleChainId)
    }
  }

  /** The chain is gone. */
  remove({ tenantId, id }: Chain): void {
    for (const roots of [this.roots, this.wanted]) if (roots.get(tenantId) === id) roots.delete(tenantId)
  }

  clear(): void {
    this.roots.clear()
    this.wanted.clear()
  }

  /** The new root waits for what the one before it has under way: else a message could overtake the one before it. */
  private change(tenantId: string, ruleChainId: string): void {
    const before = this.actorOf(this.roots.get(tenantId) ?? '')
    const next = this.actorOf(ruleChainId)
    this.roots.set(tenantId, ruleChainId)
    if (before !== undefined && next !== undefined && before !== next) next.waitFor(before.passed())
  }
}
