import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { StepInput } from '../../model/calculated-fields/kind.ts'
import { parseJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import { DEVICE, opened, single, stepOf } from './testkit.ts'

const SQUARE = '[[0,0],[0,10],[10,10],[10,0]]'
const OTHER = '[[0,8],[0,20],[10,20],[10,8]]'
const zone = (digit: number) => ({ entityType: 'ASSET', id: `${digit}1111111-1111-4111-8111-111111111111` }) as const
const [A, B] = [zone(1), zone(2)]

function field(group: JsonObject = {}, more: JsonObject = {}) {
  return opened({
    type: 'GEOFENCING',
    entityCoordinates: { latitudeKeyName: 'lat', longitudeKeyName: 'lon' },
    zoneGroups: {
      sites: {
        refDynamicSourceConfiguration: {
          type: 'RELATION_PATH_QUERY',
          levels: [{ direction: 'FROM', relationType: 'Contains' }],
        },
        perimeterKeyName: 'perimeter',
        reportStrategy: 'REPORT_TRANSITION_EVENTS_AND_PRESENCE_STATUS',
        ...group,
      },
    },
    output: { type: 'TIME_SERIES' },
    ...more,
  })
}

type Zones = readonly (readonly [typeof A, JsonValue, number])[]
const BOTH: Zones = [
  [A, SQUARE, 1],
  [B, parseJson(OTHER), 1],
]

function inputOf(longitude: number, zones: Zones = BOTH, ts = 2000): Partial<StepInput> {
  const of = zones.map(([entity, value, changed]) => ({ entity, value, ts: changed }))
  const args = {
    latitude: single(5, ts),
    longitude: single(longitude, ts - 1),
    'zones sites': { kind: 'many', of },
  } as const
  return { args, updates: [{ name: 'latitude', entity: DEVICE, ts, value: 5 }] }
}

/** Values of each step, and the relations it makes. */
function walk(configured: ReturnType<typeof field>, inputs: readonly Partial<StepInput>[]) {
  let state: JsonValue = null
  return inputs.map((input) => {
    const step = stepOf(configured, input, state)
    state = parseJson(JSON.stringify(step.state))
    return step.results.map((result) => {
      if (result.kind === 'values') return result.values
      assert(result.kind === 'relation')
      return [result.action, result.from.id.charAt(0), result.to.id.charAt(0), result.relationType].join(' ')
    })
  })
}

describe('geofencing', () => {
  test('the zones of a group are one area: entered, left, and where it is', () => {
    const told = walk(field(), [inputOf(30), inputOf(5), inputOf(9), inputOf(15), inputOf(30)])
    assert.deepEqual(told, [
      [{ sitesStatus: 'OUTSIDE' }],
      [{ sitesEvent: 'ENTERED', sitesStatus: 'INSIDE' }],
      [{ sitesStatus: 'INSIDE' }],
      [{ sitesStatus: 'INSIDE' }],
      [{ sitesEvent: 'LEFT', sitesStatus: 'OUTSIDE' }],
    ])
  })

  test('only transitions, or only where it is, are told where that is asked', () => {
    const path = [inputOf(30), inputOf(5), inputOf(5), inputOf(30)]
    assert.deepEqual(walk(field({ reportStrategy: 'REPORT_TRANSITION_EVENTS_ONLY' }), path), [
      ...[[], [{ sitesEvent: 'ENTERED' }], []],
      [{ sitesEvent: 'LEFT' }],
    ])
    const [first] = walk(field({ reportStrategy: 'REPORT_PRESENCE_STATUS_ONLY' }), path)
    assert.deepEqual(first, [{ sitesStatus: 'OUTSIDE' }])
  })

  test('relations are made to each zone that it is in, and taken away from the others', () => {
    const relations = { createRelationsWithMatchedZones: true, relationType: 'In', direction: 'TO' }
    const quiet = { ...relations, reportStrategy: 'REPORT_TRANSITION_EVENTS_ONLY' }
    const own = DEVICE.id.charAt(0)
    assert.deepEqual(walk(field(quiet), [inputOf(5), inputOf(9), inputOf(9)]), [
      [`create 1 ${own} In`, `delete 2 ${own} In`, { sitesEvent: 'ENTERED' }],
      [`create 2 ${own} In`],
      [],
    ])
    const [from] = walk(field({ ...quiet, direction: 'FROM' }), [inputOf(5)])
    assert.deepEqual(from?.[0], `create ${own} 1 In`)
  })

  test('another perimeter begins anew, and a zone that is read again says nothing', () => {
    const moved: Zones = [[A, OTHER, 2]]
    const still: Zones = [[A, SQUARE, 1]]
    const told = walk(field(), [
      inputOf(5, still),
      { ...inputOf(5, still), cause: 'reload' },
      { ...inputOf(5, moved), cause: 'reload' },
      inputOf(5, moved),
    ])
    assert.deepEqual(told, [
      [{ sitesEvent: 'ENTERED', sitesStatus: 'INSIDE' }],
      [],
      [{ sitesStatus: 'OUTSIDE' }],
      [{ sitesStatus: 'OUTSIDE' }],
    ])
  })

  test('who is inside at the first look has entered; a further zone of the same group is no transition', () => {
    const [inside, further] = walk(field(), [inputOf(9, [[A, SQUARE, 1]]), inputOf(9)])
    assert.deepEqual(inside, [{ sitesEvent: 'ENTERED', sitesStatus: 'INSIDE' }])
    assert.deepEqual(further, [{ sitesStatus: 'INSIDE' }])
    const told = walk(field(), [inputOf(15, [[A, SQUARE, 1]]), inputOf(15)])
    assert.deepEqual(told, [[{ sitesStatus: 'OUTSIDE' }], [{ sitesEvent: 'ENTERED', sitesStatus: 'INSIDE' }]])
  })

  test('has the time of the coordinates, and waits for zones', () => {
    const { results } = stepOf(field(), inputOf(5))
    assert(results[0]?.kind === 'values')
    assert.equal(results[0].ts, 2000)
    const attributes = stepOf(field({}, { output: { type: 'ATTRIBUTES', scope: 'SERVER_SCOPE' } }), inputOf(5))
    assert(attributes.results[0]?.kind === 'values')
    assert.equal(attributes.results[0].ts, undefined)
    assert.deepEqual(stepOf(field(), inputOf(5, [])).results, [])
  })

  test('a position that is older than the newest says nothing', () => {
    const late = { ...inputOf(5), updates: [{ name: 'latitude', entity: DEVICE, ts: 1, value: 5 }] }
    assert.deepEqual(stepOf(field(), late).results, [])
  })

  test('circles are zones too; what is none is named', () => {
    const circle = '{"latitude":5,"longitude":5,"radius":1000}'
    const told = walk(field(), [inputOf(5, [[A, circle, 1]]), inputOf(6, [[A, parseJson(circle), 1]])])
    assert.deepEqual(told[1], [{ sitesEvent: 'LEFT', sitesStatus: 'OUTSIDE' }])
    assert.throws(() => stepOf(field(), inputOf(5, [[A, 'here', 1]])), { code: 'node.ZONE_INVALID' })
  })

  test('zones are read again as often as the schedule says', () => {
    assert.equal(field({}, { scheduledUpdateEnabled: true, scheduledUpdateInterval: 60 }).needs.reloadEveryMs, 60_000)
    assert.equal(field({}, { scheduledUpdateInterval: 60 }).needs.reloadEveryMs, undefined)
  })
})
