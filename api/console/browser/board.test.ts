import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fold } from './buckets.js'
import {
  emptyConfiguration,
  placedWidgets,
  pushed,
  sidesOf,
  statesOf,
  withChanged,
  withPlace,
  withWidget,
  withoutWidget,
} from './board.js'
import { dashboardFile, dashboardOfFile } from './dashboard-file.js'
import { kindOf } from './widget-kinds.js'

const place = (col: number, row: number, sizeX: number, sizeY: number) => ({ col, row, sizeX, sizeY })
const widget = (title: string) => ({
  typeFullFqn: 'system.cards.value_card',
  type: 'latest',
  sizeX: 8,
  sizeY: 3,
  config: { title },
})

function withTwo() {
  const one = withWidget(emptyConfiguration(), 'default', 'a', widget('A'))
  return withWidget(one, 'default', 'b', widget('B'))
}

const idsOf = (configuration: Record<string, unknown>) => Object.keys(configuration['widgets'] as object)

const placesOf = (configuration: Record<string, unknown>) =>
  Object.fromEntries(placedWidgets(configuration, 'default').map((each) => [each.id, each.place]))

test('a new widget stands below the others, and one that is moved over another pushes it down', () => {
  const both = withTwo()
  assert.deepEqual(placesOf(both), { a: place(0, 0, 8, 3), b: place(0, 3, 8, 3) })
  const moved = withPlace(both, 'default', 'b', place(4, 1, 8, 3))
  assert.deepEqual(placesOf(moved), { b: place(4, 1, 8, 3), a: place(0, 4, 8, 3) })
  // What was there before is still to be had: undo needs no more.
  assert.deepEqual(placesOf(both), { a: place(0, 0, 8, 3), b: place(0, 3, 8, 3) })
})

test('no widget leaves the grid or shrinks to nothing', () => {
  const both = withTwo()
  assert.deepEqual(placesOf(withPlace(both, 'default', 'a', place(30, -2, 8, 3)))['a'], place(16, 0, 8, 3))
  assert.deepEqual(placesOf(withPlace(both, 'default', 'a', place(0, 0, 0, -1)))['a'], place(0, 0, 1, 1))
  assert.deepEqual(placesOf(withPlace(both, 'default', 'a', place(0, 0, 99, 3)))['a'], place(0, 0, 24, 3))
})

test('after any move nothing overlaps', () => {
  let seed = 7
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
  for (let round = 0; round < 200; round++) {
    const ids = Array.from({ length: 8 }, (_, index) => String(index))
    const places = new Map(ids.map((id) => [id, place(random(16), random(12), 1 + random(8), 1 + random(5))]))
    const cells = [...pushed(places, String(random(8)))].flatMap(([, { col, row, sizeX, sizeY }]) =>
      Array.from(
        { length: sizeX * sizeY },
        (_, index) => `${col + (index % sizeX)},${row + Math.floor(index / sizeX)}`,
      ),
    )
    assert.equal(new Set(cells).size, cells.length, `round ${round}`)
  }
})

test('what a dashboard has beside widgets stays as it came', () => {
  const both = { ...withTwo(), unknown: { kept: 1 } }
  const moved = withPlace(both, 'default', 'a', place(1, 0, 8, 3))
  const changed = withChanged(moved, 'a', { ...widget('A2'), actions: { odd: [] } })
  assert.deepEqual(
    [changed['unknown'], placedWidgets(changed, 'default')[0]?.widget['actions']],
    [{ kept: 1 }, { odd: [] }],
  )
  const removed = withoutWidget(changed, 'default', 'a')
  assert.deepEqual([idsOf(removed), Object.keys(placesOf(removed))], [['b'], ['b']])
})

test('a widget that another state shows too stays in the dashboard', () => {
  const both = withTwo()
  const other = { name: 'Other', root: false, layouts: { main: { widgets: { a: place(0, 0, 8, 3) } } } }
  const states = { ...(both['states'] as object), other }
  const removed = withoutWidget({ ...both, states }, 'default', 'a')
  assert.deepEqual([idsOf(removed), placedWidgets(removed, 'other').length], [['a', 'b'], 1])
  assert.deepEqual(
    statesOf(removed).map(({ id }) => id),
    ['default', 'other'],
  )
})

test('a dashboard from before there were states is shown', () => {
  const old = { widgets: [{ id: 'x', ...widget('Old'), row: 2, col: 3 }] }
  assert.deepEqual(
    placedWidgets(old, 'default').map(({ id, title, place: at }) => [id, title, at]),
    [['x', 'Old', place(3, 2, 8, 3)]],
  )
})

test('a dashboard from before there were states is changed as others are', () => {
  const old = {
    widgets: [
      { id: 'x', ...widget('X'), row: 0, col: 0 },
      { id: 'y', ...widget('Y'), row: 3, col: 0 },
    ],
  }
  const moved = withPlace(old, 'default', 'y', place(9, 0, 8, 3))
  assert.deepEqual(placesOf(moved), { x: place(0, 0, 8, 3), y: place(9, 0, 8, 3) })
  const filled = withWidget(old, 'default', 'z', widget('Z'))
  assert.deepEqual(placesOf(filled), { x: place(0, 0, 8, 3), y: place(0, 3, 8, 3), z: place(0, 6, 8, 3) })
  assert.deepEqual(placesOf(withoutWidget(old, 'default', 'x')), { y: place(0, 3, 8, 3) })
})

test('widgets of ThingsBoard are told by their names, of now and of before', () => {
  const drawings = (type: string, ...names: string[]) =>
    names.map((typeFullFqn) => kindOf({ typeFullFqn, type }).drawing)
  assert.deepEqual(
    drawings(
      'timeseries',
      'system.time_series_chart',
      'system.charts.basic_timeseries',
      'system.charts.timeseries_bars_flot',
      'system.cards.timeseries_table',
      'system.bar_chart',
    ),
    ['line', 'line', 'bar', 'series', 'bar'],
  )
  assert.deepEqual(
    drawings(
      'latest',
      'system.cards.value_card',
      'system.cards.entities_table',
      'system.cards.attributes_card',
      'system.analogue_gauges.radial_gauge_canvas_gauges',
      'system.maps_v2.openstreetmap',
    ),
    ['cards', 'latest', 'attributes', 'gauge', 'other'],
  )
  assert.deepEqual(
    [
      ...drawings('alarm', 'system.alarm_widgets.alarms_table'),
      ...drawings('rpc', 'system.control_widgets.switch_control'),
      ...drawings('static', 'system.cards.html_card'),
    ],
    ['alarms', 'other', 'text'],
  )
  assert.deepEqual(kindOf({ isSystemType: true, bundleAlias: 'cards', typeAlias: 'entities_table', type: 'latest' }), {
    drawing: 'latest',
    name: 'system.cards.entities_table',
    type: 'latest',
  })
})

test('a file goes out without what is of this server, and comes back', () => {
  const dashboard = {
    id: { id: 'i' },
    version: 3,
    title: 'T',
    name: 'T',
    image: null,
    mobileHide: false,
    mobileOrder: null,
    configuration: withTwo(),
    resources: [{ link: '/api/images/tenant/plan.png' }],
  }
  const { title, configuration, resources, ...others } = dashboardOfFile(dashboardFile(dashboard))
  assert.deepEqual(
    [title, configuration, resources, Object.keys(others)],
    ['T', withTwo(), dashboard.resources, ['image', 'mobileHide', 'mobileOrder']],
  )
  assert.throws(() => dashboardOfFile('no'), /not JSON/)
  assert.throws(() => dashboardOfFile('{"nodes":[]}'), /no dashboard/)
})

test('values that come go into the step of their time', () => {
  const folded = (agg: 'AVG' | 'MIN' | 'MAX' | 'SUM' | 'COUNT') => {
    const buckets = [{ ts: 5, value: 10, count: 2 }]
    for (const point of [
      [7, 4],
      [31, 2],
      [12, 8],
      [38, 6],
      [-3, 1],
    ] as const)
      fold(buckets, point, { startTs: 0, interval: 10, agg })
    return buckets.map(({ ts, value }) => [ts, value])
  }
  assert.deepEqual(folded('AVG'), [
    [5, 8],
    [15, 8],
    [35, 4],
  ])
  assert.deepEqual(folded('MIN'), [
    [5, 4],
    [15, 8],
    [35, 2],
  ])
  assert.deepEqual(folded('MAX'), [
    [5, 10],
    [15, 8],
    [35, 6],
  ])
  assert.deepEqual(folded('SUM'), [
    [5, 14],
    [15, 8],
    [35, 8],
  ])
  assert.deepEqual(folded('COUNT'), [
    [5, 11],
    [15, 1],
    [35, 2],
  ])
})

test('a second layout has its own grid, and what is changed there leaves the first as it is', () => {
  const both = withTwo()
  const layout = (layoutDimension: object) => ({
    widgets: { b: { sizeX: 4, sizeY: 3, row: 0, col: 0 } },
    gridSettings: { columns: 12, layoutDimension },
  })
  const withRight = (dimension: object) => {
    const { layouts } = (both['states'] as { readonly default: { readonly layouts: object } }).default
    const state = { name: 'Default', root: true, layouts: { ...layouts, right: layout(dimension) } }
    return { ...both, states: { default: state } }
  }
  assert.deepEqual(sidesOf(both, 'default'), [{ side: 'main', flex: '1 1 0' }])
  assert.deepEqual(
    sidesOf(withRight({ type: 'percentage', leftWidthPercentage: 70 }), 'default').map(({ flex }) => flex),
    ['70 1 0', '30 1 0'],
  )
  const fixed = withRight({ type: 'fixed', fixedWidth: 200, fixedLayout: 'right' })
  assert.deepEqual(
    sidesOf(fixed, 'default').map(({ flex }) => flex),
    ['1 1 0', '0 0 200px'],
  )
  const moved = withPlace(fixed, 'default', 'b', place(10, 2, 4, 3), 'right')
  assert.deepEqual(placedWidgets(moved, 'default', 'right')[0]?.place, place(8, 2, 4, 3))
  assert.deepEqual(placesOf(moved), placesOf(both))
  // Shown in the first layout still.
  assert.deepEqual(idsOf(withoutWidget(moved, 'default', 'b', 'right')), ['a', 'b'])
  assert.deepEqual(idsOf(withoutWidget(withoutWidget(moved, 'default', 'b', 'right'), 'default', 'b')), ['a'])
})
