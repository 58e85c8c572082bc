/** Hands values to calculated fields, for callers that wait with a promise. */
import type { CalculatedChange, NodeCalculated } from '../../engine/rulechain/capabilities/calculated.ts'

/** Resolves when the log has them, at once where no field needs them. Rejects with the log's reason. */
export function handedOver(calculated: NodeCalculated, change: CalculatedChange): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | undefined): void => {
      if (error === undefined) resolve()
      else reject(error)
    }
    if (!calculated.handOver(change, done)) resolve()
  })
}

/** Where nothing is calculated. */
export const NO_CALCULATION: NodeCalculated = { mayNeed: () => false, handOver: () => false }
