/** The way from saved values to calculated fields: by the log, and only where a field may need them. */
import type { Clock } from '../../../model/clock.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import { errorText } from '../../../model/errors.ts'
import { BACKFILL_METADATA, Message } from '../../../model/message.ts'
import { handedOverId } from '../../../engine/rulechain/child-id.ts'
import type { Link } from '../../../engine/link/link.ts'
import type {
  CalculatedChange,
  CalculatedValues,
  NodeCalculated,
} from '../../../engine/rulechain/capabilities/calculated.ts'
import type { TenantFields } from './field-index.ts'
import { newsOf, payloadText, TRIGGER_TYPE, type News } from './payload.ts'

export interface TriggersParts {
  readonly link: Pick<Link, 'publish'>
  readonly clock: Pick<Clock, 'now'>
  readonly index: {
    pending(tenantId: string): Promise<unknown> | undefined
    of(tenantId: string): Pick<TenantFields, 'wants'> | undefined
  }
}

interface Origin {
  readonly id: string
  readonly ts: number
  readonly previous: readonly string[]
  readonly isBackfill: boolean
}

export class CalculationTriggers implements NodeCalculated {
  private readonly parts: TriggersParts
  private handed = 0

  constructor(parts: TriggersParts) {
    this.parts = parts
  }

  /** Messages that went to the log. */
  get handedOver(): number {
    return this.handed
  }

  mayNeed(tenantId: string): boolean {
    const { index } = this.parts
    return index.of(tenantId) !== undefined || index.pending(tenantId) !== undefined
  }

  handOver(change: CalculatedChange, done: (error: Error | undefined) => void): boolean {
    const pending = this.parts.index.pending(change.tenantId)
    if (pending === undefined) return this.handOverNow(change, done)
    // What others begin to read meanwhile is not waited for: they may never end.
    pending
      .then(() => this.handOverNow(change, done))
      .then(
        (isWanted) => (isWanted ? undefined : done(undefined)),
        (error: unknown) => done(error instanceof Error ? error : new Error(errorText(error))),
      )
    return true
  }

  /** News of another kind than values, of an entity or a profile. */
  tell(tenantId: string, entity: EntityId, news: News, id: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.send(this.messageOf(tenantId, entity, news, id), (error) => {
        if (error === undefined) resolve()
        else reject(error)
      })
    })
  }

  /** The same as a message, for who commits it with what it tells of. */
  messageOf(tenantId: string, entity: EntityId, news: News, id: string, previous: readonly string[] = []): Message {
    const origin = { ts: this.parts.clock.now(), previous, isBackfill: false }
    return triggerOf(tenantId, entity, news, { id: handedOverId(id, entity.id, news.kind), ...origin })
  }

  private handOverNow(change: CalculatedChange, done: (error: Error | undefined) => void): boolean {
    const fields = this.parts.index.of(change.tenantId)
    if (fields === undefined || !isWanted(fields, change.entity, change.values)) return false
    this.publish(change, done)
    return true
  }

  private publish(
    { tenantId, entity, values, cause }: CalculatedChange,
    done: (error: Error | undefined) => void,
  ): void {
    const id = handedOverId(cause.id, entity.id, whatOf(values))
    const news = newsOf(values, this.parts.clock.now(), cause.type)
    const { ts, calculatedFieldIds: previous, isBackfill = false } = cause
    this.send(triggerOf(tenantId, entity, news, { id, ts, previous, isBackfill }), done)
  }

  private send(message: Message, done: (error: Error | undefined) => void): void {
    this.handed++
    this.parts.link.publish(message, { stored: () => done(undefined), refused: done })
  }
}

function triggerOf(
  tenantId: string,
  originator: EntityId,
  news: News,
  { id, ts, previous, isBackfill }: Origin,
): Message {
  return new Message({
    ...{ id, ts, type: TRIGGER_TYPE, tenantId, originator, data: payloadText(news) },
    metadata: isBackfill ? BACKFILL_METADATA : {},
    // The chain of the tenant's that calculates has the tenant's id.
    ruleChainId: tenantId,
    calculatedFieldIds: previous.length === 0 ? undefined : previous,
  })
}

function isWanted(fields: Pick<TenantFields, 'wants'>, entity: EntityId, values: CalculatedValues): boolean {
  switch (values.kind) {
    case 'series':
      return values.points.some(({ key }) => fields.wants(entity.id, 'series', key))
    case 'series deleted':
      return values.keys.some((key) => fields.wants(entity.id, 'series', key))
    case 'attributes':
      return values.entries.some(({ key }) => fields.wants(entity.id, values.scope, key))
    case 'attributes deleted':
      return values.keys.some((key) => fields.wants(entity.id, values.scope, key))
  }
}

function whatOf(values: CalculatedValues): string {
  return 'scope' in values ? `${values.kind} ${values.scope}` : values.kind
}
