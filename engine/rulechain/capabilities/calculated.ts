/** What calculated fields are told of: values that came, whoever stored them. */
import type { EntityId } from '../../../model/entity-id.ts'
import type { Message } from '../../../model/message.ts'
import type { AttributeScope, DataPoint, Entry } from '../../../model/value.ts'

/** Why fields are calculated. */
export interface CalculationCause {
  /** The message or the call, and who made of it this: the same when it is delivered again. */
  readonly id: string
  /** Unix ms: when it came to be. */
  readonly ts: number
  readonly type: string
  /** Fields that it came from: they are not calculated of it. */
  readonly calculatedFieldIds: readonly string[]
  /** The values came late: no alarm is raised of them. */
  readonly isBackfill?: boolean
}

export type CalculatedValues =
  | { readonly kind: 'series'; readonly points: readonly DataPoint[] }
  | { readonly kind: 'attributes'; readonly scope: AttributeScope; readonly entries: readonly Entry[] }
  | { readonly kind: 'attributes deleted'; readonly scope: AttributeScope; readonly keys: readonly string[] }

export interface CalculatedChange {
  readonly tenantId: string
  readonly entity: EntityId
  readonly values: CalculatedValues
  readonly cause: CalculationCause
}

export interface NodeCalculated {
  /**
   * Hands values to the fields that need them, by way of the log: calls back when they are durable there, or with the error. False where no field
   * needs them: it does not call back then.
   */
  handOver(change: CalculatedChange, done: (error: Error | undefined) => void): boolean
}

/** One node hands over a message once: the same where it comes again. `type` where it hands over what is of another. */
export function causeOf(message: Message, ruleNodeId: string, type = message.type): CalculationCause {
  const { id, ts, calculatedFieldIds = [], isBackfill } = message
  return { id: `${id} ${ruleNodeId}`, ts, type, calculatedFieldIds, isBackfill }
}
