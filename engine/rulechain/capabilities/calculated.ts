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
  /** Points went: what there is of these is read again. */
  | { readonly kind: 'series deleted'; readonly keys: readonly string[] }
  | { readonly kind: 'attributes'; readonly scope: AttributeScope; readonly entries: readonly Entry[] }
  | { readonly kind: 'attributes deleted'; readonly scope: AttributeScope; readonly keys: readonly string[] }

export interface CalculatedChange {
  readonly tenantId: string
  readonly entity: EntityId
  readonly values: CalculatedValues
  readonly cause: CalculationCause
}

export interface NodeCalculated {
  /** False where the tenant has no field, and none is being read that may be its: nobody needs its values. It costs no object. */
  mayNeed(tenantId: string): boolean
  /**
   * Hands values to the fields that need them, by way of the log: calls back when they are durable there, or with the error. False where no field
   * needs them: it does not call back then.
   */
  handOver(change: CalculatedChange, done: (error: Error | undefined) => void): boolean
}

/** One node hands over a message once: the same where it comes again. `type` where it hands over what is of another. */
export function causeOf(message: Message, ruleNodeId: string, type = message.type): CalculationCause {
  return new MessageCause(message, ruleNodeId, type)
}

const NO_FIELDS: readonly string[] = []

/** Read where a field needs it: most saves are asked nothing, and each of them has one. */
class MessageCause implements CalculationCause {
  readonly type: string
  private readonly message: Message
  private readonly ruleNodeId: string

  constructor(message: Message, ruleNodeId: string, type: string) {
    this.message = message
    this.ruleNodeId = ruleNodeId
    this.type = type
  }

  get id(): string {
    return `${this.message.id} ${this.ruleNodeId}`
  }

  get ts(): number {
    return this.message.ts
  }

  get calculatedFieldIds(): readonly string[] {
    return this.message.calculatedFieldIds ?? NO_FIELDS
  }

  get isBackfill(): boolean {
    return this.message.isBackfill
  }
}
