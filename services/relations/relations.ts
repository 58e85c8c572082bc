/** Relations between entities, as `api/`, rule nodes and entity queries use them. Source: `rest-api.md` 10, `rule-engine.md` 2.3. */
import type { Clock, Random } from '../../model/clock.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { stringifyJson } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import type { KnownMessageType } from '../../model/message-type.ts'
import type { Principal } from '../../model/principal.ts'
import {
  RELATION_DIRECTIONS,
  relationJson,
  type Relation,
  type RelationDirection,
  type RelationGroup,
  type RelationKey,
} from '../../model/relation.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { SYSTEM_TENANT, type Changes, type EntityEvent } from '../changes/changes.ts'
import { requireRoute, type RouteLookup } from '../changes/message-route.ts'
import { checkText } from '../names.ts'
import { RelationErrors } from './errors.ts'
import type { CommitDoubts } from '../changes/commit-doubts.ts'
import { farEnds, filtered, MAX_FOUND, searchRelations, type RelationFilter, type RelationSearch } from './search.ts'

/** In one direction: what one answer can hold. */
export const MAX_RELATIONS = MAX_FOUND

export type RelationDraft = Omit<Relation, 'version'>

export interface RelationListOptions {
  /** COMMON where absent. */
  readonly group?: RelationGroup
  /** Absent: any. */
  readonly type?: string | undefined
  /** The oldest of them, where more are nobody's need. */
  readonly most?: number | undefined
}

export interface RelationParts {
  readonly entities: EntityStore
  readonly changes: Changes
  readonly routeOf: RouteLookup
  readonly feed: Pick<ChangeFeed, 'publish'>
  readonly doubts: CommitDoubts
  readonly clock: Clock
  readonly random: Random
  /** Who hears of relations that come and go, in their transaction. */
  readonly follower?: RelationFollower | undefined
}

export interface RelationFollower {
  /** Whether any relation of the tenant matters to anybody. */
  isInterested(tenantId: string): boolean
  /** Of relations that came or went; `gone`: the entity that they went with; `behind`: calculated fields whose results had them come or go. */
  newsOf(
    tenantId: string,
    relations: readonly RelationKey[],
    gone?: EntityId,
    behind?: readonly string[],
  ): readonly Message[]
}

export class RelationService {
  private readonly parts: RelationParts

  constructor(parts: RelationParts) {
    this.parts = parts
  }

  /** Whose relations a caller makes and sees: the system's are apart from those of tenants. */
  tenantOf({ tenantId }: Principal): string {
    return tenantId ?? SYSTEM_TENANT
  }

  find(tenantId: string, key: RelationKey): Promise<Relation | undefined> {
    return this.parts.entities.relations.find(tenantId, key)
  }

  /** Those of one entity. Throws `TOO_MANY_FOUND`. */
  list(
    tenantId: string,
    direction: RelationDirection,
    entity: EntityId,
    options?: RelationListOptions,
  ): Promise<readonly Relation[]> {
    return this.listOfMany(tenantId, direction, [entity], options)
  }

  /** Those of all of the entities, by one query. Throws `TOO_MANY_FOUND` where all together have too many. */
  async listOfMany(
    tenantId: string,
    direction: RelationDirection,
    entities: readonly EntityId[],
    { group = 'COMMON', type, most = Infinity }: RelationListOptions = {},
  ): Promise<readonly Relation[]> {
    const limit = Math.min(most, MAX_FOUND + 1)
    const read = { tenantId, direction, ids: entities.map(({ id }) => id), group, type, limit }
    const found = await this.parts.entities.relations.findOf(read)
    if (found.length > MAX_FOUND) throw RelationErrors.TOO_MANY_FOUND({ limit: MAX_FOUND })
    return found
  }

  /** Over several levels; filters apply to what was found, not to the way there. Throws `TOO_MANY_FOUND`, `TOO_DEEP`. */
  async search(
    tenantId: string,
    search: RelationSearch,
    filters: readonly RelationFilter[] = [],
  ): Promise<readonly Relation[]> {
    const found = await searchRelations(this.parts.entities.relations, tenantId, search)
    return filtered(found, search.direction, filters)
  }

  /** The entities that a search leads to, each once, nearest first. */
  async findRelated(
    tenantId: string,
    search: RelationSearch,
    filters: readonly RelationFilter[] = [],
  ): Promise<readonly EntityId[]> {
    return farEnds(await this.search(tenantId, search, filters), search.direction)
  }

  /** For rule nodes: raises no message. `behind`: calculated fields whose results the node's message came from. Throws as `saveByUser`. */
  async save(tenantId: string, draft: RelationDraft, behind?: readonly string[]): Promise<Relation> {
    const before = await this.checkDraft(tenantId, draft)
    const { entities, changes } = this.parts
    const news = before === undefined ? this.newsOf(tenantId, [draft], behind) : []
    const written = await this.told(tenantId, changes.commitAll([this.statement(tenantId, draft)], [], news))
    return { ...draft, version: entities.relations.savedVersion(written, 0) }
  }

  /** For rule nodes, as `save`: raises no message. Whether it was there. */
  async delete(tenantId: string, key: RelationKey, behind?: readonly string[]): Promise<boolean> {
    const { entities, changes } = this.parts
    // News of what was not there would have a chain that deletes behind each result calculate without end.
    if ((await this.find(tenantId, key)) === undefined) return this.told(tenantId, Promise.resolve(false))
    const deletion = entities.relations.delete(tenantId, key)
    const news = this.newsOf(tenantId, [key], behind)
    const { results } = await this.told(tenantId, changes.commitAll([deletion], [], news))
    return (results[0]?.changes ?? 0) > 0
  }

  /** Makes it, or replaces what is said of the one that is there. Throws `TYPE_BLANK`, `TOO_MANY`, what texts must not be. */
  async saveByUser(principal: Principal, draft: RelationDraft): Promise<Relation> {
    const tenantId = this.tenantOf(principal)
    const before = await this.checkDraft(tenantId, draft)
    const expected = { ...draft, version: (before?.version ?? 0) + 1 }
    const events = await this.events(principal, expected, 'RELATION_ADD_OR_UPDATE')
    const news = before === undefined ? this.newsOf(tenantId, [draft]) : []
    const commit = this.parts.changes.commitAll([this.statement(tenantId, draft)], events, news)
    const written = await this.told(tenantId, commit)
    return { ...draft, version: this.parts.entities.relations.savedVersion(written, 0) }
  }

  /** Answers what was deleted. Throws `NOT_FOUND`. */
  async deleteByUser(principal: Principal, key: RelationKey): Promise<Relation> {
    const tenantId = this.tenantOf(principal)
    const relation = await this.find(tenantId, key)
    if (relation === undefined) throw RelationErrors.NOT_FOUND()
    const deletion = this.parts.entities.relations.delete(tenantId, key)
    const once = { ...deletion, expect: { changes: 1, otherwise: () => RelationErrors.NOT_FOUND() } }
    const events = await this.events(principal, relation, 'RELATION_DELETED')
    await this.told(tenantId, this.parts.changes.commitAll([once], events, this.newsOf(tenantId, [key])))
    return relation
  }

  /** Those of the entity in both directions, of the group `COMMON`. */
  async deleteAllByUser(principal: Principal, entity: EntityId): Promise<void> {
    const tenantId = this.tenantOf(principal)
    const deletion = this.parts.entities.relations.deleteAll(tenantId, entity, 'COMMON')
    const event = await this.event(principal, entity, 'RELATIONS_DELETED', '{}')
    const news = await this.newsOfAll(tenantId, entity)
    await this.told(tenantId, this.parts.changes.commitAll(deletion, [event], news))
  }

  /** What whoever deletes all relations of an entity commits with that. `isGone`: the entity goes too. */
  async newsOfAll(tenantId: string, entity: EntityId, isGone = false): Promise<readonly Message[]> {
    const { follower, entities } = this.parts
    if (follower?.isInterested(tenantId) !== true) return []
    const read = { tenantId, ids: [entity.id], group: 'COMMON', limit: MAX_FOUND } as const
    const found = await Promise.all(
      RELATION_DIRECTIONS.map((direction) => entities.relations.findOf({ ...read, direction, type: undefined })),
    )
    return follower.newsOf(tenantId, found.flat(), isGone ? entity : undefined)
  }

  private newsOf(tenantId: string, relations: readonly RelationKey[], behind?: readonly string[]): readonly Message[] {
    return this.parts.follower?.newsOf(tenantId, relations, undefined, behind) ?? []
  }

  private async told<Result>(tenantId: string, commit: Promise<Result>): Promise<Result> {
    const { doubts, feed } = this.parts
    const tell = (): void => feed.publish({ kind: 'relations-changed', entity: entityId('TENANT', tenantId), tenantId })
    const result = await doubts.watch(commit, tell)
    tell()
    return result
  }

  private statement(tenantId: string, draft: RelationDraft) {
    return this.parts.entities.relations.save(tenantId, draft, this.parts.random.uuid(), this.parts.clock.now())
  }

  /** Answers the relation that is there already. */
  private async checkDraft(tenantId: string, draft: RelationDraft): Promise<Relation | undefined> {
    if (draft.type.trim() === '') throw RelationErrors.TYPE_BLANK()
    checkText('type', draft.type)
    const before = await this.find(tenantId, draft)
    if (before !== undefined) return before
    const { relations } = this.parts.entities
    const counts = [
      relations.count('FROM', draft.from.id, MAX_RELATIONS),
      relations.count('TO', draft.to.id, MAX_RELATIONS),
    ]
    for (const count of await Promise.all(counts))
      if (count >= MAX_RELATIONS) throw RelationErrors.TOO_MANY({ limit: MAX_RELATIONS })
    return undefined
  }

  /** Both ends hear of it. */
  private events(principal: Principal, relation: Relation, type: KnownMessageType): Promise<EntityEvent[]> {
    const data = stringifyJson(relationJson(relation))
    return Promise.all([relation.from, relation.to].map((end) => this.event(principal, end, type, data)))
  }

  private async event(
    principal: Principal,
    originator: EntityId,
    type: KnownMessageType,
    data: string,
  ): Promise<EntityEvent> {
    const { ruleChainId, queueName } = await requireRoute(this.parts.routeOf, originator)
    const { customerId } = principal
    const tenantId = this.tenantOf(principal)
    return { type, principal, tenantId, customerId, originator, ruleChainId, queueName, metadata: {}, data }
  }
}
