/**
 * Attributes: saves of one turn become one commit; the cache and the feed hear of it in the order of commits.
 * Source: `rest-api.md` 4.2, 4.5, 4.8; `rule-engine.md` 10.2, 10.6.
 */
import type { Clock } from '../../model/clock.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { entriesJson } from '../../model/entry-json.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { Principal } from '../../model/principal.ts'
import { ATTRIBUTE_SCOPES, type Attribute, type AttributeScope, type Entry } from '../../model/value.ts'
import type { CalculatedValues, NodeCalculated } from '../../engine/rulechain/capabilities/calculated.ts'
import type { AttributesSave } from '../../engine/rulechain/capabilities/attributes.ts'
import type { ChangeFeed, ChangeOf } from '../../engine/subscriptions/change.ts'
import type { AttributeWrite, ScopedAttribute } from '../../storage/entities/attributes.ts'
import type { Written } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { Snapshot } from '../../storage/timeseries/store.ts'
import type { AttributeCache, AttributesAsOf } from './attribute-cache.ts'
import { attemptedOn } from '../audit/audit-log.ts'
import type { Changes, EntityEvent } from '../changes/changes.ts'
import type { CommitDoubts } from '../changes/commit-doubts.ts'
import { TelemetryErrors } from '../errors.ts'
import { handedOver } from '../calculated-fields/handed-over.ts'
import { checkKey } from '../names.ts'
import type { JoinedChange } from '../entities/service-parts.ts'
import { requireRoute, type RouteLookup } from '../changes/message-route.ts'
import type { AttributeService, AttributesOfUser } from './attribute-service.ts'

/** Texts of one entity's attributes together. */
const MAX_CHARACTERS = 16 * 2 ** 20
/** Saves of fewer characters of text are not worth the look at what is there. */
const LONG_SAVE = 2 ** 14

interface WaitingSave {
  readonly request: AttributesSave
  readonly attributes: readonly ScopedAttribute[]
  resolve(): void
  reject(error: Error): void
}

export class CachedAttributes implements AttributeService {
  private readonly entities: EntityStore
  private readonly cache: AttributeCache
  private readonly feed: ChangeFeed
  private readonly changes: Changes
  private readonly routeOf: RouteLookup
  private readonly clock: Clock
  private readonly doubts: CommitDoubts
  private readonly calculated: NodeCalculated
  /** Bounded by what the engine has open: each save belongs to a message that is not settled. */
  private waiting: WaitingSave[] = []

  constructor(
    entities: EntityStore,
    cache: AttributeCache,
    feed: ChangeFeed,
    changes: Changes,
    routeOf: RouteLookup,
    clock: Clock,
    doubts: CommitDoubts,
    calculated: NodeCalculated,
  ) {
    this.calculated = calculated
    this.entities = entities
    this.cache = cache
    this.feed = feed
    this.changes = changes
    this.routeOf = routeOf
    this.clock = clock
    this.doubts = doubts
  }

  save(request: AttributesSave): Promise<void> {
    if (request.entries.length === 0) return Promise.resolve()
    // A view holds copies of what it shows, in their scopes.
    if (!hasScope(request.entity, request.scope) && request.entity.entityType !== 'ENTITY_VIEW')
      return Promise.reject(TelemetryErrors.SCOPE_OF_DEVICES({ scope: request.scope }))
    if (charactersOf(request.entries) < LONG_SAVE) return this.join(request)
    return this.checkRoom(request.entity, request.scope, request.entries).then(() => this.join(request))
  }

  private join(request: AttributesSave): Promise<void> {
    const attributes = scopedAttributes(request.scope, request.entries, this.clock.now(), request.writer)
    const { tenantId, entity, scope, entries, calculated: cause } = request
    const stored = new Promise<void>((resolve, reject) => {
      this.waiting.push({ request, attributes, resolve, reject })
      if (this.waiting.length === 1) this.clock.soon(() => void this.flush())
    })
    if (cause === undefined) return stored
    const values = { kind: 'attributes', scope, entries } as const
    return stored.then(() => handedOver(this.calculated, { tenantId, entity, values, cause }))
  }

  async saveByUser(
    principal: Principal,
    entity: EntityId,
    scope: AttributeScope,
    entries: readonly Entry[],
  ): Promise<void> {
    checkScope(entity, scope)
    const tried = () => attemptedOn('ATTRIBUTES_UPDATED', entity)
    return this.changes.attempt(principal, tried, () => this.saveOfUser(principal, entity, scope, entries))
  }

  private async saveOfUser(
    principal: Principal,
    entity: EntityId,
    scope: AttributeScope,
    entries: readonly Entry[],
  ): Promise<void> {
    const save = { entity, scope, entries, route: () => requireRoute(this.routeOf, entity) }
    const { statements, event, committed, inDoubt } = await this.savingByUser(principal, save)
    committed(await this.doubts.watch(this.changes.commit(statements, event), inDoubt))
    await this.tellFields(event, { kind: 'attributes', scope, entries })
  }

  async savingByUser(principal: Principal, { entity, scope, entries, route }: AttributesOfUser): Promise<JoinedChange> {
    checkScope(entity, scope)
    for (const entry of entries) checkKey(entry.key, TelemetryErrors.KEY_BLANK)
    if (charactersOf(entries) >= LONG_SAVE) await this.checkRoom(entity, scope, entries)
    const saved = scopedAttributes(scope, entries, this.clock.now())
    const event = { principal, ...(await route()), originator: entity, metadata: { scope } }
    return {
      statements: [this.entities.attributes.save(writesOf(entity, saved, 0))],
      event: { type: 'ATTRIBUTES_UPDATED', ...event, data: entriesJson(entries) },
      committed: ({ sequence }) => {
        const effect = { entityId: entity.id, saved, deleted: [] }
        this.publishSaved(entity, scope, saved, { sequence, ownSequence: this.cache.apply(sequence, effect) })
      },
      inDoubt: () => this.lookAgain(entity, scope),
    }
  }

  async deleteByUser(
    principal: Principal,
    entity: EntityId,
    scope: AttributeScope,
    keys: readonly string[],
  ): Promise<void> {
    if (keys.length === 0) throw TelemetryErrors.KEYS_MISSING()
    const tried = () => attemptedOn('ATTRIBUTES_DELETED', entity)
    return this.changes.attempt(principal, tried, () => this.deleteOfUser(principal, entity, scope, keys))
  }

  private async deleteOfUser(
    principal: Principal,
    entity: EntityId,
    scope: AttributeScope,
    keys: readonly string[],
  ): Promise<void> {
    const route = await requireRoute(this.routeOf, entity)
    const statement = this.entities.attributes.delete(entity.id, scope, keys)
    const event = { principal, ...route, originator: entity, metadata: { scope } }
    const data = `{"attributes":${JSON.stringify(keys)}}`
    const commit = this.changes.commit([statement], { type: 'ATTRIBUTES_DELETED', ...event, data })
    const written = await this.doubts.watch(commit, () => this.lookAgain(entity, scope))
    const deleted = keys.map((key) => ({ scope, key }))
    const { sequence } = written
    const ownSequence = this.cache.apply(sequence, { entityId: entity.id, saved: [], deleted })
    this.feed.publish({ kind: 'attributes-deleted', entity, sequence, ownSequence, scope, keys })
    await this.tellFields({ ...event, type: 'ATTRIBUTES_DELETED' }, { kind: 'attributes deleted', scope, keys })
  }

  /** What a user did is one of a kind: nobody delivers it again. */
  private tellFields(
    { tenantId, originator: entity, type }: Pick<EntityEvent, 'tenantId' | 'originator' | 'type'>,
    values: CalculatedValues,
  ): Promise<void> {
    const cause = { id: this.changes.newId(), ts: this.clock.now(), type, calculatedFieldIds: [] }
    return handedOver(this.calculated, { tenantId, entity, values, cause })
  }

  /** For the platform itself: no message tells of it. The device hears of shared ones, unless it must not. */
  async delete(
    entity: EntityId,
    scope: AttributeScope,
    keys: readonly string[],
    audience?: 'subscribers',
  ): Promise<void> {
    if (keys.length === 0) return
    const writing = this.entities.write([this.entities.attributes.delete(entity.id, scope, keys)])
    const { sequence } = await this.doubts.watch(writing, () => this.lookAgain(entity, scope))
    const deleted = keys.map((key) => ({ scope, key }))
    const ownSequence = this.cache.apply(sequence, { entityId: entity.id, saved: [], deleted })
    this.feed.publish({ kind: 'attributes-deleted', entity, sequence, ownSequence, scope, keys, audience })
  }

  async find(
    entity: EntityId,
    scope: AttributeScope | undefined,
    keys: readonly string[] | undefined,
  ): Promise<Snapshot<readonly ScopedAttribute[]>> {
    const { attributes, ...asOf } = this.cache.lookUp(entity.id) ?? (await this.load(entity.id))
    return { value: foundIn(attributes, scope, keys), ...asOf }
  }

  findHeld(
    entity: EntityId,
    scope: AttributeScope,
    keys: readonly string[] | undefined,
  ): readonly ScopedAttribute[] | undefined {
    const held = this.cache.lookUp(entity.id)
    return held && foundIn(held.attributes, scope, keys)
  }

  async keys(entity: EntityId, scope: AttributeScope | undefined): Promise<readonly string[]> {
    const { value } = await this.find(entity, scope, undefined)
    return value.map((attribute) => attribute.key)
  }

  /** Server attributes that another service wrote in a transaction of its own. */
  writtenWith(
    { sequence: commit }: Pick<Written, 'sequence'>,
    entity: EntityId,
    written: { readonly saved?: readonly Attribute[]; readonly deleted?: readonly string[] },
  ): void {
    const scope = 'SERVER_SCOPE'
    const { saved = [], deleted: keys = [] } = written
    const attributes = saved.map((attribute) => ({ ...attribute, scope }) as const)
    const deleted = keys.map((key) => ({ scope, key }) as const)
    const ownSequence = this.cache.apply(commit, { entityId: entity.id, saved: attributes, deleted })
    const place = { sequence: commit, ownSequence }
    if (attributes.length > 0) this.publishSaved(entity, scope, attributes, place)
    if (keys.length > 0) this.feed.publish({ kind: 'attributes-deleted', entity, ...place, scope, keys })
  }

  /** An entity's attributes are read together, so together they must fit into memory. Throws ATTRIBUTES_TOO_LONG. */
  private async checkRoom(entity: EntityId, scope: AttributeScope, entries: readonly Entry[]): Promise<void> {
    const { value } = await this.find(entity, undefined, undefined)
    const replaced = new Set(entries.map(({ key }) => key))
    const kept = value.filter((attribute) => attribute.scope !== scope || !replaced.has(attribute.key))
    if (charactersOf(kept) + charactersOf(entries) <= MAX_CHARACTERS) return
    throw TelemetryErrors.ATTRIBUTES_TOO_LONG({ limit: MAX_CHARACTERS })
  }

  /** What is held by now changes in place: it is looked up again, so that the number fits what is read. */
  private async load(entityId: string): Promise<AttributesAsOf> {
    const loaded = await this.cache.load(entityId)
    return this.cache.lookUp(entityId) ?? loaded
  }

  private async flush(): Promise<void> {
    const saves = this.waiting
    this.waiting = []
    const stored = saves.filter((save) => save.request.store)
    try {
      await this.store(stored)
    } catch (error) {
      await this.storeEach(stored, asError(error))
    }
    for (const save of saves) {
      if (save.request.store) continue
      // Shown and not stored: in no commit.
      this.tell(save.request, save.attributes, { sequence: undefined })
      save.resolve()
    }
  }

  /** What can never be stored, such as a key too long for an index, costs its own message and not those it went with. */
  private async storeEach(saves: readonly WaitingSave[], reason: Error): Promise<void> {
    const isOneOfMany = isMillraceError(reason) && reason.kind === 'invalid' && saves.length > 1
    for (const save of saves) {
      if (isOneOfMany) await this.store([save]).catch((error: unknown) => save.reject(asError(error)))
      else save.reject(reason)
    }
  }

  private async store(saves: readonly WaitingSave[]): Promise<void> {
    if (saves.length === 0) return
    const writes = saves.flatMap(({ request, attributes }) => writesOf(request.entity, attributes, request.sequence))
    const writing = this.entities.write([this.entities.attributes.save(writes)])
    const { results, sequence: commit } = await this.doubts.watch(writing, () => {
      for (const { request } of saves) this.lookAgain(request.entity, request.scope)
    })
    const untouched = new Set(results[0]?.untouched)
    let place = 0
    for (const save of saves) {
      const saved = save.attributes.filter(() => !untouched.has(place++))
      if (saved.length > 0) {
        const effect = { entityId: save.request.entity.id, saved, deleted: [] }
        this.tell(save.request, saved, { sequence: commit, ownSequence: this.cache.apply(commit, effect) })
      }
      save.resolve()
    }
  }

  private tell(request: AttributesSave, attributes: readonly ScopedAttribute[], place: Place): void {
    const { entity, scope, notify } = request
    const toDevice = request.notifyDevice && scope === 'SHARED_SCOPE'
    if (!this.feed.hasListeners(entity, 'attributes')) return
    const audience = notify && toDevice ? 'all' : notify ? 'subscribers' : toDevice ? 'device' : 'caches'
    this.feed.publish({ kind: 'attributes', entity, ...place, scope, attributes, audience })
  }

  /** What is there is not known: what is held of it here and in other processes is dropped. */
  private lookAgain(entity: EntityId, scope: AttributeScope): void {
    this.cache.invalidate(entity.id)
    this.feed.publish({ kind: 'attributes', entity, sequence: undefined, scope, attributes: [], audience: 'caches' })
  }

  private publishSaved(
    entity: EntityId,
    scope: AttributeScope,
    attributes: readonly ScopedAttribute[],
    place: Place,
  ): void {
    this.feed.publish({ kind: 'attributes', entity, ...place, scope, attributes, audience: 'all' })
  }
}

/** Among the commits of the database, and among the changes of this process. */
type Place = Pick<ChangeOf<'attributes'>, 'sequence' | 'ownSequence'>

/** What devices say of themselves and what they are told; entity views show copies of it and are not written there. */
function hasScope({ entityType }: EntityId, scope: AttributeScope): boolean {
  return scope === 'SERVER_SCOPE' || entityType === 'DEVICE'
}

/** Throws for a scope that users do not write. */
function checkScope(entity: EntityId, scope: AttributeScope): void {
  if (scope === 'CLIENT_SCOPE') throw TelemetryErrors.SCOPE_READ_ONLY({ scope })
  if (!hasScope(entity, scope)) throw TelemetryErrors.SCOPE_OF_DEVICES({ scope })
}

function charactersOf(entries: readonly Entry[]): number {
  let characters = 0
  for (const { value } of entries) if (typeof value === 'string') characters += value.length
  return characters
}

function scopedAttributes(
  scope: AttributeScope,
  entries: readonly Entry[],
  lastUpdateTs: number,
  writer?: number,
): readonly ScopedAttribute[] {
  if (writer === undefined) return entries.map((entry): ScopedAttribute => ({ ...entry, lastUpdateTs, scope }))
  return entries.map((entry): ScopedAttribute => ({ ...entry, lastUpdateTs, scope, writer }))
}

function writesOf(
  entity: EntityId,
  attributes: readonly ScopedAttribute[],
  sequence: number,
): readonly AttributeWrite[] {
  const entityId = entity.id
  return attributes.map((attribute) => ({
    ...{ entityId, scope: attribute.scope, attribute, sequence, writer: attribute.writer },
  }))
}

function foundIn(
  attributes: AttributesAsOf['attributes'],
  scope: AttributeScope | undefined,
  keys: readonly string[] | undefined,
): readonly ScopedAttribute[] {
  const found: ScopedAttribute[] = []
  for (const each of scope === undefined ? ATTRIBUTE_SCOPES : [scope]) {
    const byKey = attributes.get(each)
    if (byKey === undefined) continue
    if (keys === undefined || keys.length === 0) found.push(...byKey.values())
    else for (const key of new Set(keys)) pushFound(found, byKey.get(key))
  }
  return found
}

function pushFound(found: ScopedAttribute[], attribute: ScopedAttribute | undefined): void {
  if (attribute !== undefined) found.push(attribute)
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
