/** What a node tells calculated fields of why they are calculated. */
import type { CalculationCause } from '../engine/rulechain/capabilities/calculated.ts'
import type { Message } from '../model/message.ts'

/** One node hands over a message once: the same where it comes again. */
export function causeOf(message: Message, ruleNodeId: string): CalculationCause {
  const { id, ts, type, calculatedFieldIds = [], isBackfill } = message
  return { id: `${id} ${ruleNodeId}`, ts, type, calculatedFieldIds, isBackfill }
}
