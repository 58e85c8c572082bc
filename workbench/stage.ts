/** Builds the world that a case describes. */
import { entityId, type EntityType } from '../model/entity-id.ts'
import { entriesOf } from '../model/entry-json.ts'
import type { JsonObject, JsonValue } from '../model/json.ts'
import type { AttributeScope } from '../model/value.ts'
import { timeMs, type EntityText, type WorldText } from './cases.ts'
import { WorkbenchErrors } from './errors.ts'
import { World, type WorldEntity, type WorldParts } from './world.ts'

const AS_WRITTEN = { castStrings: false, nulls: 'refuse' } as const
const SCOPES = { client: 'CLIENT_SCOPE', server: 'SERVER_SCOPE', shared: 'SHARED_SCOPE' } as const

/** The later description adds to the first. Throws `ENTITY_UNKNOWN`. */
export function stagedWorld(parts: WorldParts, descriptions: readonly WorldText[]): World {
  const world = new World(parts, Object.fromEntries(descriptions.flatMap(({ outside }) => Object.entries(outside))))
  for (const { tenant, customers, users, assets, devices } of descriptions) {
    if (tenant !== undefined) furnish(world, 'Tenant', { id: entityId('TENANT', parts.tenantId) }, tenant, parts)
    addAll(world, 'CUSTOMER', customers, parts)
    addAll(world, 'USER', users, parts)
    addAll(world, 'ASSET', assets, parts)
    addAll(world, 'DEVICE', devices, parts)
  }
  for (const { relations, alarms } of descriptions) {
    for (const [from, type, to] of relations) {
      world.addRelation({ from: named(world, from, 'relations').id, type, to: named(world, to, 'relations').id })
    }
    for (const { of, type, severity, details } of alarms) {
      world.raise({ originator: named(world, of, 'alarms').id, type, severity, details: details ?? {} })
    }
  }
  return world
}

/** Throws `ENTITY_UNKNOWN`. */
export function named(world: World, name: string, where: string): WorldEntity {
  const found = world.entityNamed(name)
  if (found === undefined) throw WorkbenchErrors.ENTITY_UNKNOWN({ where, name })
  return found
}

function addAll(
  world: World,
  entityType: EntityType,
  entities: Readonly<Record<string, EntityText>>,
  parts: WorldParts,
): void {
  for (const [name, text] of Object.entries(entities)) {
    const { type, label, fields } = text
    const known = world.entityNamed(name, entityType)
    const entity =
      known ??
      world.addEntity(entityType, name, {
        ...(type === undefined ? {} : { type }),
        ...(label === undefined ? {} : { label }),
        ...(fields === undefined ? {} : { json: fields }),
      })
    if (text.customer !== undefined) entity.customerId = named(world, text.customer, name).id.id
    furnish(world, name, entity, text, parts)
  }
}

function furnish(
  world: World,
  name: string,
  { id }: Pick<WorldEntity, 'id'>,
  { attributes, latest, series }: EntityText,
  { clock }: WorldParts,
): void {
  for (const [scope, values] of Object.entries(attributes ?? {})) {
    if (values !== undefined) world.setAttributes(id, scopeOf(scope), entriesOf(values, AS_WRITTEN))
  }
  const now = clock.now()
  world.addPoints(id, pointsOf(latest ?? {}, now))
  for (const [key, points] of Object.entries(series ?? {})) {
    for (const [time, value] of points) world.addPoints(id, pointsOf({ [key]: value }, timeOf(time, name)))
  }
}

function scopeOf(name: string): AttributeScope {
  return name === 'client' || name === 'shared' ? SCOPES[name] : SCOPES.server
}

function pointsOf(values: JsonObject, ts: number) {
  return entriesOf(values, AS_WRITTEN).map((entry) => ({ ...entry, ts }))
}

function timeOf(value: JsonValue, where: string): number {
  if (typeof value === 'number' || typeof value === 'string') return timeMs(value)
  throw WorkbenchErrors.FILE_NOT_CASES({ file: where, reason: 'a point is [time, value]' })
}
