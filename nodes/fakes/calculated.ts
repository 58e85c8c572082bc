/** Notes what calculated fields would be told. */
import type { CalculatedChange, NodeCalculated } from '../../engine/rulechain/capabilities/calculated.ts'

export class FakeCalculated implements NodeCalculated {
  readonly handed: CalculatedChange[] = []
  /** Whether any field needs values. */
  isNeeded = true
  failure: Error | undefined

  mayNeed(): boolean {
    return this.isNeeded
  }

  handOver(change: CalculatedChange, done: (error: Error | undefined) => void): boolean {
    this.handed.push(change)
    if (this.isNeeded) done(this.failure)
    return this.isNeeded
  }
}
