/**
 * Messages that name a chain which does not run here. Where the store does not have it either, they end well (`rule-engine.md` 4.6); where it has, this
 * process has only not heard of it yet, and they come again.
 */
import type { Clock } from '../../model/clock.ts'
import type { RuleChain } from '../../model/entities.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import { within } from '../../model/within.ts'
import type { Work } from '../queue/work.ts'
import type { EngineLog } from './node-context.ts'

/** A store that has not answered by then is taken for one that does not: what waits would be held for good. */
const LOOK_MS = 10_000

export interface GoneChainsOptions {
  readonly clock: Clock
  /** Reads the store. Absent, every message comes again. */
  readonly storedChain?: (tenantId: string, ruleChainId: string) => Promise<RuleChain | undefined>
  readonly log: EngineLog
}

export function isChainMissing(error: Error): boolean {
  return isMillraceError(error) && error.code === 'rulechain.CHAIN_MISSING'
}

export class GoneChains {
  private readonly options: GoneChainsOptions
  /** By tenant and chain: what waits for the next look. Bounded by what queues have under way. */
  private readonly waiting = new Map<string, Work[]>()

  constructor(options: GoneChainsOptions) {
    this.options = options
  }

  /** Never throws. `refused` is what the work ends with where the chain is stored, or the store does not answer. */
  end(work: Work, ruleChainId: string, refused: Error): void {
    const { storedChain } = this.options
    if (storedChain === undefined) return work.end(refused)
    const { tenantId } = work.message
    const key = `${tenantId} ${ruleChainId}`
    const others = this.waiting.get(key)
    if (others !== undefined) return void others.push(work)
    this.waiting.set(key, [work])
    void this.serve(key, tenantId, ruleChainId, refused)
  }

  /** What comes during a look waits for the next: the chain may have been made meanwhile. */
  private async serve(key: string, tenantId: string, ruleChainId: string, refused: Error): Promise<void> {
    // One look for all that come in a turn.
    await Promise.resolve()
    for (let works = this.waiting.get(key) ?? []; works.length > 0; works = this.waiting.get(key) ?? []) {
      this.waiting.set(key, [])
      const mayRun = await this.look(tenantId, ruleChainId)
      for (const one of works) one.end(mayRun ? refused : undefined)
    }
    this.waiting.delete(key)
  }

  /** Chains of type EDGE are stored here and run elsewhere. */
  private async look(tenantId: string, ruleChainId: string): Promise<boolean> {
    const { storedChain, clock, log } = this.options
    if (storedChain === undefined) return false
    const late = (): Error => new Error(`no answer within ${LOOK_MS} ms`)
    try {
      return (await within(clock, LOOK_MS, storedChain(tenantId, ruleChainId), late))?.type === 'CORE'
    } catch (error) {
      log('warn', 'whether a rule chain is gone can not be read', { tenantId, ruleChainId, reason: errorText(error) })
      return true
    }
  }
}
