/** GEOFENCING: in which zones an entity is, and when it enters and leaves them. Source: `rule-engine.md` 8.2. */
import { z } from 'zod'
import {
  hidingState,
  type ArgumentValue,
  type ConfigurationOf,
  type FieldKind,
  type Step,
  type StepInput,
  type StepResult,
} from '../../model/calculated-fields/kind.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { isInside, type Perimeter, type Position } from '../../model/geo.ts'
import { isJsonObject, stringifyJson, type JsonValue } from '../../model/json.ts'
import { lruMap } from '../../model/lru-map.ts'
import { NodeErrors } from '../errors.ts'
import { parseCircle, parsePolygon } from '../geo/perimeter.ts'
import { hasNews } from './argument-values.ts'
import { originOf } from './needs.ts'
import { numberOf } from './simple.ts'

const LATITUDE = 'latitude'
const LONGITUDE = 'longitude'
/** Groups may be called as they like: their arguments have names that no coordinate has. */
const ZONES = 'zones '
/** Zones of one field that are kept parsed. */
const KEPT_PERIMETERS = 500

const stateSchema = z.record(
  z.string(),
  z.record(z.string(), z.strictObject({ ts: z.number(), isInside: z.boolean() })),
)
/** By group, then by zone: where the entity was, and how old the perimeter is for which that is so. */
type State = z.output<typeof stateSchema>

type Configuration = ConfigurationOf<'GEOFENCING'>
type ZoneGroup = Configuration['zoneGroups'][string]
type ZoneValue = Extract<ArgumentValue, { kind: 'many' }>['of'][number]

export const geofencing: FieldKind<'GEOFENCING'> = {
  type: 'GEOFENCING',
  open(configuration) {
    const { entityCoordinates, zoneGroups, scheduledUpdateEnabled, scheduledUpdateInterval } = configuration
    const own = { origin: { from: 'own' }, type: 'TS_LATEST' } as const
    const zones = Object.entries(zoneGroups).map(([name, group]) => {
      const origin = originOf({
        refEntityId: group.refEntityId ?? undefined,
        refDynamicSourceConfiguration: group.refDynamicSourceConfiguration,
      })
      return [ZONES + name, { origin, key: group.perimeterKeyName, type: 'ATTRIBUTE', many: true }] as const
    })
    const perimeters = lruMap<Perimeter>(KEPT_PERIMETERS)
    const seconds = scheduledUpdateEnabled ? (scheduledUpdateInterval ?? undefined) : undefined
    return hidingState<State>({
      needs: {
        arguments: {
          [LATITUDE]: { ...own, key: entityCoordinates.latitudeKeyName },
          [LONGITUDE]: { ...own, key: entityCoordinates.longitudeKeyName },
          ...Object.fromEntries(zones),
        },
        reloadEveryMs: seconds === undefined ? undefined : seconds * 1000,
      },
      parse: (stored) => stateSchema.safeParse(stored).data ?? null,
      step: (state, input) => step(configuration, perimeters, state ?? {}, input),
    })
  },
}

type Perimeters = ReturnType<typeof lruMap<Perimeter>>

function step(configuration: Configuration, perimeters: Perimeters, before: State, input: StepInput): Step<State> {
  const { args, entity, cause } = input
  const groups = Object.entries(configuration.zoneGroups).map(([name, group]) => {
    const zones = args[ZONES + name]
    return { name, group, zones: zones?.kind === 'many' ? zones.of : [] }
  })
  const isSame = groups.every(({ name, zones }) => isKnown(before[name] ?? {}, zones))
  const isNews = cause === 'reload' ? !isSame : cause !== 'values' || hasNews(input)
  // Without zones a group says nothing, and the field waits for them.
  if (!isNews || groups.some(({ zones }) => zones.length === 0)) return { state: before, results: [] }
  const position: Position = { latitude: coordinate(args, LATITUDE), longitude: coordinate(args, LONGITUDE) }
  const values: [string, JsonValue][] = []
  const relations: StepResult[] = []
  const after = groups.map(({ name, group, zones }) => {
    const seen = zones.map((zone) => look(zone, before[name]?.[zone.entity.id], position, perimeters))
    values.push(...reported(name, group, seen))
    relations.push(...seen.flatMap((one) => relationOf(entity, group, one)))
    const known = seen.map(({ zone, isIn }) => [zone.entity.id, { ts: zone.ts, isInside: isIn }] as const)
    return [name, Object.fromEntries(known)] as const
  })
  const ts = configuration.output.type === 'TIME_SERIES' ? timeOf(args) : undefined
  const results: readonly StepResult[] =
    values.length === 0 ? relations : [...relations, { kind: 'values', entity, values: Object.fromEntries(values), ts }]
  return { state: Object.fromEntries(after), results }
}

/** Whether these are the zones, with these perimeters, that were looked at last. */
function isKnown(known: State[string], zones: readonly ZoneValue[]): boolean {
  return Object.keys(known).length === zones.length && zones.every(({ entity, ts }) => known[entity.id]?.ts === ts)
}

interface Seen {
  readonly zone: ZoneValue
  readonly isIn: boolean
  readonly isFirst: boolean
  /** Undefined where nobody knows: the zone is new, or has another perimeter now. */
  readonly wasIn: boolean | undefined
}

function look(
  zone: ZoneValue,
  known: State[string][string] | undefined,
  position: Position,
  perimeters: Perimeters,
): Seen {
  const isIn = isInside(perimeterOf(zone, perimeters), position)
  const isFirst = known === undefined
  return { zone, isIn, isFirst, wasIn: isFirst || zone.ts > known.ts ? undefined : known.isInside }
}

/** Entered, or left: of the group as one area. Whoever is inside at the first look has entered; another perimeter is no transition. */
function reported(name: string, { reportStrategy }: ZoneGroup, seen: readonly Seen[]): readonly [string, JsonValue][] {
  const isIn = seen.some((one) => one.isIn)
  const wasIn = seen.some((one) => one.wasIn ?? (one.isIn && !one.isFirst))
  const events: [string, JsonValue][] = isIn === wasIn ? [] : [[`${name}Event`, isIn ? 'ENTERED' : 'LEFT']]
  const status: [string, JsonValue] = [`${name}Status`, isIn ? 'INSIDE' : 'OUTSIDE']
  switch (reportStrategy) {
    case 'REPORT_TRANSITION_EVENTS_ONLY':
      return events
    case 'REPORT_PRESENCE_STATUS_ONLY':
      return [status]
    case 'REPORT_TRANSITION_EVENTS_AND_PRESENCE_STATUS':
      return [...events, status]
  }
}

function relationOf(
  entity: EntityId,
  { createRelationsWithMatchedZones, relationType, direction }: ZoneGroup,
  { zone, isIn, wasIn }: Seen,
): readonly StepResult[] {
  if (!createRelationsWithMatchedZones || isIn === wasIn) return []
  const [from, to] = direction === 'TO' ? [zone.entity, entity] : [entity, zone.entity]
  return [{ kind: 'relation', action: isIn ? 'create' : 'delete', from, to, relationType: relationType ?? '' }]
}

/** An object is a circle, a list a polygon; either may be the text of one. Throws where it is neither. */
function perimeterOf({ entity, value }: ZoneValue, perimeters: Perimeters): Perimeter {
  const text = typeof value === 'string' ? value : stringifyJson(value)
  const known = perimeters.get(text)
  if (known !== undefined) return known
  const isCircle = isJsonObject(value) || text.trimStart().startsWith('{')
  try {
    const perimeter = isCircle ? parseCircle(text) : parsePolygon(text)
    perimeters.set(text, perimeter)
    return perimeter
  } catch (error) {
    throw NodeErrors.ZONE_INVALID({ zone: entity.id }, error)
  }
}

function coordinate(args: StepInput['args'], name: string): number {
  const argument = args[name]
  if (argument === undefined) throw NodeErrors.VALUE_MISSING({ key: name, place: 'arguments' })
  return numberOf(name, argument)
}

/** The newest of the coordinates. */
function timeOf(args: StepInput['args']): number {
  return Math.max(...[args[LATITUDE], args[LONGITUDE]].map((one) => (one?.kind === 'single' ? one.ts : 0)))
}
