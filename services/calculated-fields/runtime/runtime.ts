/** Calculated fields as they run: who has them, the chain of each such tenant that calculates, and how values get there (docs/internals/calculated-fields.md). */
import assert from 'node:assert/strict'
import type { TimerHandle } from '../../../model/clock.ts'
import type { RuleChain, RuleChainGraph, RuleNode } from '../../../model/entities.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import type { Message } from '../../../model/message.ts'
import type { RelationKey } from '../../../model/relation.ts'
import type { ChangeFeed } from '../../../engine/subscriptions/change.ts'
import { whenThere, type Soon } from '../../../engine/rulechain/capabilities/soon.ts'
import type { NodeCatalogue, NodeDefinition } from '../../../engine/rulechain/node.ts'
import type { Link } from '../../../engine/link/link.ts'
import { calculatedFields, type CalculatedField } from '../../entities/calculated-field.ts'
import type { TenantLimits } from '../../entities/tenant-limits.ts'
import type { EventWriter } from '../../events/event-writer.ts'
import type { RelationFollower } from '../../relations/relations.ts'
import type { RouteLookup } from '../../changes/message-route.ts'
import type { Report } from '../../changes/outbox.ts'
import { CalculationTime } from './bounds.ts'
import { FieldDebug } from './debug.ts'
import { KnownFacts } from './facts.ts'
import { FieldIndex, type OpenField } from './field-index.ts'
import { calculationNode, type CalculationCounts } from './program.ts'
import { CalculationReader, type ReaderParts } from './reader.ts'
import { RelatedEntities, type RelatedParts } from './related.ts'
import { stepsOnWays } from './relation-news.ts'
import { storingNode } from './storing.ts'
import { fieldTools, type ToolsParts } from './tools.ts'
import { CalculationTriggers } from './triggers.ts'

export interface CalculationParts extends Omit<ReaderParts, 'index' | 'facts' | 'related'>, Omit<ToolsParts, 'time'> {
  readonly relations: RelatedParts['relations']
  readonly routeOf: RouteLookup
  readonly events: Pick<EventWriter, 'add'>
  readonly feed: Pick<ChangeFeed, 'listenToAll' | 'onGap' | 'settled'>
  readonly link: Pick<Link, 'publish'>
  readonly report: Report
  readonly open: OpenField
}

export interface CalculationFigures extends CalculationCounts {
  readonly fields: number
  readonly handedOver: number
}

const CALCULATE = 'millrace.calculated.fields'
const STORE = 'millrace.calculated.results'

export class Calculation {
  readonly triggers: CalculationTriggers
  private readonly parts: CalculationParts
  private readonly index: FieldIndex
  private readonly facts: KnownFacts
  private readonly related: RelatedEntities
  private readonly counts: CalculationCounts = { calculated: 0, failed: 0, results: 0, forwarded: 0 }
  /** As the last turn read them, by tenant. */
  private readonly limitsOf = new Map<string, TenantLimits>()
  private readonly time: CalculationTime
  private readonly timers = new Set<TimerHandle>()
  private readonly stops: readonly (() => void)[]
  private starting: Promise<void> | undefined
  private began: ((tenantId: string) => Promise<void>) | undefined

  constructor(parts: CalculationParts) {
    this.parts = parts
    const { declared, feed, report, open, clock, link, routeOf } = parts
    this.time = new CalculationTime(clock)
    const toolsOf = ({ tenantId, id }: CalculatedField) =>
      fieldTools({ ...parts, time: this.time }, { tenantId, id }, () => this.limitsOf.get(tenantId))
    const fields = declared.of(calculatedFields)
    const began = (tenantId: string): void => void this.began?.(tenantId)
    this.index = new FieldIndex({ fields, feed, report, open, toolsOf, began }, (ms, run) => this.later(ms, run))
    this.facts = new KnownFacts({ declared, routeOf, feed })
    this.related = new RelatedEntities({ relations: parts.relations, feed })
    this.triggers = new CalculationTriggers({ link, clock, index: this.index })
    this.stops = [
      feed.listenToAll(['device-changed'], ({ entity }) => void this.changed(entity)),
      feed.listenToAll(['entity-deleted'], ({ entity }) => this.limitsOf.delete(entity.id)),
      feed.listenToAll(['alarm'], ({ entity, tenantId, alarmId }) => this.alarmChanged(tenantId, entity, alarmId)),
    ]
  }

  /** Before messages are taken. */
  start(): Promise<void> {
    return (this.starting ??= this.index.start())
  }

  /** Told of tenants that have fields now, and of each that has its first one later: also of one that other processes calculate for. */
  async followTenants(began: (tenantId: string) => Promise<void>): Promise<void> {
    this.began = began
    await Promise.all(this.index.tenantIds().map((tenantId) => began(tenantId)))
  }

  figures(): CalculationFigures {
    return { fields: this.index.size, handedOver: this.triggers.handedOver, ...this.counts }
  }

  /** What makes the entities of a field that is saved calculate anew. */
  newsOf({ tenantId, entityId: owner, id, version }: CalculatedField): Message | undefined {
    if (owner === null) return undefined
    return this.triggers.messageOf(tenantId, owner, { kind: 'field', id, version }, `${id} ${version}`)
  }

  /** What makes those calculate anew whom relations lead to others now. */
  readonly relations: RelationFollower = {
    isInterested: (tenantId) => (this.index.of(tenantId)?.ways().length ?? 0) > 0,
    newsOf: (tenantId, relations, gone, behind) => {
      const ways = this.index.of(tenantId)?.ways() ?? []
      return stepsOnWays(ways, relations).map((steps) => this.relationsNews(tenantId, steps, gone, behind))
    },
  }

  private relationsNews(
    tenantId: string,
    steps: readonly RelationKey[],
    gone: EntityId | undefined,
    behind: readonly string[] | undefined,
  ): Message {
    const changed = steps.map(({ from, to, type }) => ({ from, to, type }))
    const [first] = steps
    assert(first !== undefined, 'relations changed')
    const entity = first.from.id === gone?.id ? first.to : first.from
    return this.triggers.messageOf(tenantId, entity, { kind: 'relations', changed }, this.parts.random.uuid(), behind)
  }

  /** The chain's nodes beside those of users. */
  catalogue(catalogue: NodeCatalogue): NodeCatalogue {
    const own = new Map(this.definitions().map((definition) => [definition.type, definition]))
    // Nobody may draw them into a chain.
    return { find: (type) => own.get(type) ?? catalogue.find(type), all: () => catalogue.all() }
  }

  close(): void {
    for (const stop of this.stops) stop()
    for (const timer of this.timers) timer.cancel()
    this.index.close()
    this.facts.close()
    this.related.close()
  }

  private definitions(): readonly NodeDefinition[] {
    const { parts, counts, time } = this
    const { clock, events, index, facts } = { ...parts, index: this.index, facts: this.facts }
    const reader = new CalculationReader({
      ...parts,
      limits: { soon: (tenantId) => this.limitsNow(tenantId) },
      index,
      facts,
      related: this.related,
    })
    const debug = new FieldDebug(events, clock)
    return [
      {
        ...hidden(CALCULATE, 'calculated fields'),
        uses: ['state'],
        create: (_configuration, { tenantId, services }) =>
          services.state.keyed(calculationNode({ tenantId, now: () => clock.now(), reader, debug, counts, time })),
      },
      {
        ...hidden(STORE, 'results of calculated fields'),
        uses: ['telemetry', 'attributes', 'alarms', 'relations'],
        create: (_configuration, context) => storingNode(context),
      },
    ]
  }

  /** Read before each turn: kinds ask for them within it. */
  private limitsNow(tenantId: string): Soon<TenantLimits> {
    return whenThere(this.parts.limits.soon(tenantId), (limits) => {
      this.limitsOf.set(tenantId, limits)
      return limits
    })
  }

  /** Of an entity whose profile or owner may be others now. What it does not tell, the entity's next values show. */
  private async changed(entity: EntityId): Promise<void> {
    if (this.index.size === 0 || (entity.entityType !== 'DEVICE' && entity.entityType !== 'ASSET')) return
    try {
      const before = await this.facts.of(entity)
      if (before === undefined || this.index.of(before.tenantId) === undefined) return
      const id = this.parts.random.uuid()
      await this.triggers.tell(before.tenantId, entity, { kind: 'entity' }, id)
    } catch (error) {
      this.parts.report('Calculated fields are not told that an entity changed', {
        id: entity.id,
        reason: String(error),
      })
    }
  }

  private alarmChanged(tenantId: string, entity: EntityId, alarmId: string): void {
    const fields = this.index.of(tenantId)
    if (fields === undefined || ![...fields.all()].some(({ field }) => field?.needs.alarm === true)) return
    const news = { kind: 'alarm' } as const
    this.triggers.tell(tenantId, entity, news, `${alarmId} ${this.parts.clock.now()}`).catch((error: unknown) => {
      this.parts.report('Alarm rules are not told that an alarm changed', { id: entity.id, reason: String(error) })
    })
  }

  private later(ms: number, run: () => void): void {
    const timer = this.parts.clock.after(ms, () => {
      this.timers.delete(timer)
      run()
    })
    this.timers.add(timer)
  }
}

/** The chain that calculates has the tenant's id: it is in no list, and no chain of a user's has it. */
export function calculationChain(tenantId: string): { readonly chain: RuleChain; readonly graph: RuleChainGraph } {
  const node = (id: string, type: string, name: string): RuleNode => ({
    ...{ id, createdTime: 0, ruleChainId: tenantId, type, name, debugSettings: null, singletonMode: false },
    ...{ queueName: null, configurationVersion: 0, configuration: {}, additionalInfo: null, disabledReason: null },
  })
  return {
    chain: {
      ...{ id: tenantId, createdTime: 0, version: 1, tenantId, name: 'Calculated fields', type: 'CORE' },
      ...{ firstRuleNodeId: tenantId, root: false, debugMode: false, configuration: null, additionalInfo: null },
    },
    graph: {
      ...{ ruleChainId: tenantId, version: 1, firstNodeIndex: 0 },
      nodes: [node(tenantId, CALCULATE, 'calculated fields'), node(`${tenantId}:results`, STORE, 'results')],
      connections: [{ fromIndex: 0, toIndex: 1, type: 'Result' }],
    },
  }
}

function hidden(type: string, name: string): Omit<NodeDefinition, 'create' | 'uses'> {
  return {
    ...{
      type,
      name,
      category: 'ACTION',
      configurationVersion: 0,
      description: 'The engine’s own.',
      relations: 'custom',
    },
    ...{ defaultConfiguration: {}, configurationSchema: {}, effects: true, check: () => undefined },
    editor: {
      ...{ clustering: 'ENABLED', hasQueueName: false, hasInput: true, hasOutput: true, isChain: false },
      ...{ form: '', icon: 'functions' },
    },
  }
}
