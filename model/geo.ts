/** Perimeters on the map: what is inside of one (`rule-nodes.md` 12). Latitude is x, longitude y, both in degrees. */

export interface Position {
  readonly latitude: number
  readonly longitude: number
}

export type Point = readonly [latitude: number, longitude: number]

/** Even-odd over all rings: a ring inside another is a hole, one beside it another area. */
export interface Polygon {
  readonly type: 'POLYGON'
  readonly rings: readonly (readonly Point[])[]
}

export interface Circle {
  readonly type: 'CIRCLE'
  readonly center: Position
  /** In `unit`. */
  readonly radius: number
  readonly unit: RangeUnit
}

export type Perimeter = Polygon | Circle

/** How many of them are a kilometre. */
const PER_KILOMETER = {
  METER: 1000,
  KILOMETER: 1,
  FOOT: 3280.84,
  MILE: 0.62137,
  NAUTICAL_MILE: 0.539957,
} as const

export type RangeUnit = keyof typeof PER_KILOMETER
export const RANGE_UNITS = ['METER', 'KILOMETER', 'FOOT', 'MILE', 'NAUTICAL_MILE'] as const satisfies RangeUnit[]

/** The mean radius of the earth. */
const EARTH_KILOMETERS = 6371.0087714
const RADIANS_PER_DEGREE = Math.PI / 180

/** Strictly inside: the border belongs to the outside, of a circle too. */
export function isInside(perimeter: Perimeter, position: Position): boolean {
  if (perimeter.type === 'CIRCLE') return distance(position, perimeter.center, perimeter.unit) < perimeter.radius
  const point: Point = [position.latitude, position.longitude]
  let isIn = false
  for (const ring of perimeter.rings) {
    for (let index = 0, before = ring.length - 1; index < ring.length; before = index++) {
      const from = ring[before]
      const to = ring[index]
      if (from === undefined || to === undefined) continue
      if (isBetween(from, to, point)) return false
      if (crosses(from, to, point)) isIn = !isIn
    }
  }
  return isIn
}

/** Great-circle distance (haversine). */
export function distance(a: Position, b: Position, unit: RangeUnit): number {
  const half = (from: number, to: number): number => Math.sin(((from - to) * RADIANS_PER_DEGREE) / 2)
  const byLatitude = half(a.latitude, b.latitude)
  const byLongitude = half(a.longitude, b.longitude)
  const scale = Math.cos(a.latitude * RADIANS_PER_DEGREE) * Math.cos(b.latitude * RADIANS_PER_DEGREE)
  const share = Math.min(1, byLatitude * byLatitude + scale * byLongitude * byLongitude)
  return 2 * Math.atan2(Math.sqrt(share), Math.sqrt(1 - share)) * EARTH_KILOMETERS * PER_KILOMETER[unit]
}

function isBetween([x1, y1]: Point, [x2, y2]: Point, [x, y]: Point): boolean {
  if ((x2 - x1) * (y - y1) !== (y2 - y1) * (x - x1)) return false
  return Math.min(x1, x2) <= x && x <= Math.max(x1, x2) && Math.min(y1, y2) <= y && y <= Math.max(y1, y2)
}

/** Whether a ray from the point in the direction of growing x meets the edge; an end counts to one of its two edges. */
function crosses([x1, y1]: Point, [x2, y2]: Point, [x, y]: Point): boolean {
  return y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1
}

/** How lists of points are read from what a place has for JSON. */
export interface RingReader<Value> {
  /** Undefined where it is no list. */
  items(value: Value): readonly Value[] | undefined
  /** Throws where it is no number. */
  coordinate(value: Value | undefined, key: 'latitude' | 'longitude'): number
  refuse(reason: string): Error
}

/** However deep the lists are nested, a list of points is a ring; two points are the corners of a rectangle. Throws what the reader refuses with. */
export function ringsIn<Value>(value: Value, reader: RingReader<Value>): readonly (readonly Point[])[] {
  const items = reader.items(value)
  if (items === undefined) throw reader.refuse('a list of points is expected')
  const lists = items.flatMap((item) => {
    const list = reader.items(item)
    return list === undefined ? [] : [list]
  })
  const isRing =
    items.length > 0 &&
    lists.length === items.length &&
    lists.every((list) => list.every((member) => reader.items(member) === undefined))
  if (!isRing) return items.flatMap((item) => ringsIn(item, reader))
  const points = lists.map(([latitude, longitude]): Point => {
    return [reader.coordinate(latitude, 'latitude'), reader.coordinate(longitude, 'longitude')]
  })
  const [first, second] = points
  if (first === undefined || second === undefined) throw reader.refuse('a ring needs two points at least')
  return [points.length > 2 ? points : [first, [first[0], second[1]], second, [second[0], first[1]]]]
}
