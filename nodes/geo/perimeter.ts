/**
 * The part of a configuration that says which perimeter is meant and where a message tells its position; shared by the geofencing nodes
 * (`rule-nodes.md` 12, 48).
 */
import { z } from 'zod'
import { lruMap } from '../../model/lru-map.ts'
import { LongDecimal, WholeDouble, isJsonObject, parseJson } from '../../model/json.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { bodyObject } from '../body.ts'
import { NodeErrors } from '../errors.ts'
import { numberOfText } from '../../model/number-text.ts'
import { orZero } from '../define-node.ts'
import { RANGE_UNITS, isInside, ringsIn } from '../../model/geo.ts'
import type { Perimeter, Position, RangeUnit, RingReader } from '../../model/geo.ts'

export const perimeterConfiguration = z.looseObject({
  latitudeKeyName: orZero(z.string(), '').meta({
    title: 'Latitude key',
    description: 'In the body, else in the metadata.',
  }),
  longitudeKeyName: orZero(z.string(), '').meta({
    title: 'Longitude key',
    description: 'In the body, else in the metadata.',
  }),
  perimeterType: z
    .enum(['POLYGON', 'CIRCLE'])
    .nullish()
    .meta({ title: 'Perimeter', description: 'POLYGON or CIRCLE; needed unless the metadata say it.' }),
  fetchPerimeterInfoFromMessageMetadata: orZero(z.boolean(), false).meta({
    title: 'Perimeter from metadata',
    description: 'Otherwise the fields below are the perimeter.',
  }),
  perimeterKeyName: orZero(z.string(), '').meta({
    title: 'Perimeter key',
    description:
      'Metadata key with the perimeter as JSON: points, or latitude, longitude, radius, radiusUnit. Without a name: perimeter, or centerLatitude, centerLongitude, range, rangeUnit.',
  }),
  polygonsDefinition: orZero(z.string(), '').meta({
    title: 'Polygon',
    description: '[[lat,lon],…], or a list of such rings: a ring inside another is a hole. Two points are a rectangle.',
  }),
  centerLatitude: z.number().nullish().meta({ title: 'Latitude of the centre', description: 'Of a circle.' }),
  centerLongitude: z.number().nullish().meta({ title: 'Longitude of the centre', description: 'Of a circle.' }),
  range: z.number().nullish().meta({ title: 'Radius', description: 'Of a circle.' }),
  rangeUnit: z.enum(RANGE_UNITS).nullish().meta({ title: 'Unit', description: 'Of the radius.' }),
})

export type PerimeterConfiguration = z.output<typeof perimeterConfiguration>

export const PERIMETER_DEFAULTS: JsonObject = {
  latitudeKeyName: 'latitude',
  longitudeKeyName: 'longitude',
  perimeterType: 'POLYGON',
  fetchPerimeterInfoFromMessageMetadata: true,
  perimeterKeyName: 'ss_perimeter',
  polygonsDefinition: null,
  centerLatitude: null,
  centerLongitude: null,
  range: null,
  rangeUnit: null,
}

/** Texts of perimeters that are kept parsed: messages of one fleet mostly carry the same few. */
const KEPT_PERIMETERS = 100
const LONGEST_KEPT = 10_000

/** Tells of a message whether its position is inside. Throws where it has no position or there is no perimeter. */
export function insideCheck(configuration: PerimeterConfiguration): (message: Message) => boolean {
  const perimeterOf = perimeterSource(configuration)
  return (message) => {
    const position = positionOf(message, configuration)
    return isInside(perimeterOf(message), position)
  }
}

function positionOf(message: Message, configuration: PerimeterConfiguration): Position {
  const body = bodyObject(message)
  const read = (key: string): number => {
    const value = Object.hasOwn(body, key) ? body[key] : undefined
    if (value !== undefined && value !== null && isScalar(value)) return coordinate(key, value)
    const text = message.metadata[key]
    if (text === undefined || text === '') throw positionMissing(key)
    return coordinate(key, text)
  }
  return { latitude: read(configuration.latitudeKeyName), longitude: read(configuration.longitudeKeyName) }
}

function positionMissing(key: string): Error {
  return NodeErrors.VALUE_MISSING({ key, place: 'data or metadata' })
}

function isScalar(value: JsonValue): boolean {
  return typeof value !== 'object' || value instanceof WholeDouble || value instanceof LongDecimal
}

/** Throws `VALUE_INVALID` where it is no finite number. */
function coordinate(key: string, value: JsonValue | undefined): number {
  const number = typeof value === 'string' ? numberOfText(value) : numberOf(value)
  if (Number.isFinite(number)) return number
  throw NodeErrors.VALUE_INVALID({ key, expected: 'a number' })
}

function numberOf(value: JsonValue | undefined): number {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
  return value instanceof WholeDouble || value instanceof LongDecimal ? value.value : Number.NaN
}

function perimeterSource(configuration: PerimeterConfiguration): (message: Message) => Perimeter {
  const { fetchPerimeterInfoFromMessageMetadata, perimeterKeyName } = configuration
  const parsed = lruMap<Perimeter>(KEPT_PERIMETERS)
  const remembered = (text: string, parse: (text: string) => Perimeter): Perimeter => {
    const known = parsed.get(text)
    if (known !== undefined) return known
    const perimeter = parse(text)
    if (text.length <= LONGEST_KEPT) parsed.set(text, perimeter)
    return perimeter
  }
  if (!fetchPerimeterInfoFromMessageMetadata) {
    let perimeter: Perimeter | undefined
    return () => (perimeter ??= configured(configuration))
  }
  if (perimeterKeyName === '') return ({ metadata }) => ofOldMetadata(metadata, remembered)
  return ({ metadata }) => {
    const text = metadata[perimeterKeyName]
    if (text === undefined || text === '') throw NodeErrors.PERIMETER_MISSING()
    return remembered(text, typeOf(configuration) === 'POLYGON' ? parsePolygon : parseCircle)
  }
}

type Remembered = (text: string, parse: (text: string) => Perimeter) => Perimeter

function configured(configuration: PerimeterConfiguration): Perimeter {
  if (typeOf(configuration) === 'POLYGON') {
    if (configuration.polygonsDefinition === '') throw NodeErrors.PERIMETER_MISSING()
    return parsePolygon(configuration.polygonsDefinition)
  }
  const { centerLatitude: latitude, centerLongitude: longitude, range: radius, rangeUnit: unit } = configuration
  if (isAbsent(latitude) || isAbsent(longitude) || isAbsent(radius) || isAbsent(unit)) {
    throw NodeErrors.PERIMETER_MISSING()
  }
  return { type: 'CIRCLE', center: { latitude, longitude }, radius, unit }
}

/** A node without one starts, and fails messages that need it, as in the reference. */
function typeOf({ perimeterType }: PerimeterConfiguration): 'CIRCLE' | 'POLYGON' {
  if (isAbsent(perimeterType)) throw NodeErrors.PERIMETER_TYPE_MISSING()
  return perimeterType
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined
}

/** The keys from before the name of one could be chosen. */
function ofOldMetadata(metadata: Message['metadata'], remembered: Remembered): Perimeter {
  const polygon = metadata['perimeter']
  if (polygon !== undefined && polygon !== '') return remembered(polygon, parsePolygon)
  if ((metadata['centerLatitude'] ?? '') === '') throw NodeErrors.PERIMETER_MISSING()
  const read = (key: string): number => coordinate(key, metadata[key])
  const center = { latitude: read('centerLatitude'), longitude: read('centerLongitude') }
  return { type: 'CIRCLE', center, radius: read('range'), unit: unitOf(metadata['rangeUnit']) }
}

function unitOf(text: JsonValue | undefined): RangeUnit {
  const unit = RANGE_UNITS.find((known) => known === text)
  if (unit === undefined) throw NodeErrors.VALUE_INVALID({ key: 'unit', expected: RANGE_UNITS.join(', ') })
  return unit
}

/** Throws where the text is no circle. */
export function parseCircle(text: string): Perimeter {
  const circle = parseJson(text)
  if (!isJsonObject(circle)) throw NodeErrors.PERIMETER_INVALID({ reason: 'expected an object' })
  const read = (key: string): number => coordinate(key, circle[key])
  return {
    type: 'CIRCLE',
    center: { latitude: read('latitude'), longitude: read('longitude') },
    radius: read('radius'),
    unit: (circle['radiusUnit'] ?? null) === null ? 'METER' : unitOf(circle['radiusUnit']),
  }
}

/** Throws where the text is no polygon. */
export function parsePolygon(text: string): Perimeter {
  const outer = parseJson(text)
  const rings = ringsIn(outer, RINGS)
  if (rings.length === 0) throw NodeErrors.PERIMETER_INVALID({ reason: 'expected a list of points' })
  return { type: 'POLYGON', rings }
}

const RINGS: RingReader<JsonValue> = {
  items: (value) => (Array.isArray(value) ? value : undefined),
  coordinate: (value, key) => coordinate(key, value),
  refuse: (reason) => NodeErrors.PERIMETER_INVALID({ reason }),
}
