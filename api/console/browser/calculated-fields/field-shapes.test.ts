import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CALCULATED_FIELD_TYPES } from '../../../../model/calculated-fields/configuration.ts'
import { configurationOf as read } from '../../../../services/calculated-fields/configuration.ts'
import { scriptTest } from '../../../../services/calculated-fields/test-script.ts'
import {
  TYPES,
  configurationOf,
  newConfiguration,
  samplesOf,
  shownOf,
  sourceText,
  tried,
  typeText,
} from './field-shapes.js'

test('every type has a name and begins with what the server takes', () => {
  assert.deepEqual(TYPES.map(([type]) => type).toSorted(), [...CALCULATED_FIELD_TYPES].toSorted())
  for (const type of CALCULATED_FIELD_TYPES) {
    assert.notEqual(typeText(type), type)
    assert.equal(read(newConfiguration(type)).type, type)
  }
})

const RICH = {
  type: 'SIMPLE',
  arguments: {
    t: { refEntityKey: { key: 'temperature', type: 'TS_LATEST' }, defaultValue: '7' },
    o: { refEntityKey: { key: 'offset', type: 'ATTRIBUTE', scope: 'SHARED_SCOPE' } },
    p: {
      refEntityKey: { key: 'price', type: 'ATTRIBUTE', scope: 'SERVER_SCOPE' },
      refDynamicSourceConfiguration: { type: 'CURRENT_OWNER' },
    },
  },
  expression: 't + o * p',
  output: {
    type: 'ATTRIBUTES',
    name: 'sum',
    scope: 'SERVER_SCOPE',
    decimalsByDefault: 2,
    strategy: { type: 'RULE_CHAIN' },
  },
  useLatestTs: true,
}

test('a form that changes nothing changes nothing', () => {
  for (const configuration of [RICH, newConfiguration('SIMPLE'), newConfiguration('SCRIPT')]) {
    const shown = shownOf(configuration)
    const { useLatestTs = false } = configuration as { useLatestTs?: boolean }
    const after = configurationOf(configuration, shown)
    assert.deepEqual(after, configuration.type === 'SIMPLE' ? { ...configuration, useLatestTs } : configuration)
    assert.doesNotThrow(() => read(after))
  }
})

test('a window of values has its bounds, and an output of another type no strategy of the former', () => {
  const shown = shownOf(RICH)
  const [first] = shown.arguments
  assert(first !== undefined)
  const window = { ...first, kind: 'TS_ROLLING', limit: '10', timeWindow: '1.5' }
  const after = configurationOf(
    { ...RICH, type: 'SCRIPT' },
    { ...shown, arguments: [window], output: { ...shown.output, type: 'TIME_SERIES', decimals: '' } },
  )
  assert.deepEqual(after['arguments'], {
    t: { refEntityKey: { key: 'temperature', type: 'TS_ROLLING' }, limit: 10, timeWindow: 1500 },
  })
  assert.deepEqual(after['output'], { type: 'TIME_SERIES' })
})

test('of whom an argument tells is said', () => {
  assert.equal(sourceText({}), '')
  assert.equal(sourceText(RICH.arguments.p), 'of its owner')
  assert.match(sourceText({ refEntityId: { entityType: 'ASSET', id: 'x' } }), /of the asset x/)
})

test('a formula is tried as a script where both mean the same', () => {
  assert.equal(tried('SIMPLE', 't * 1.8 + (32 - o) / 2', 'f'), 'return {"f": t * 1.8 + (32 - o) / 2};')
  for (const other of ['sqrt(t)', '2t', '2 t', '(t)(o)', '(t) 2', 't ^ 2', 't % 2'])
    assert.equal(tried('SIMPLE', other, 'f'), undefined)
  assert.equal(tried('SCRIPT', 'return t;', ''), 'return t;')
})

test('samples are what the server takes', () => {
  const shown = shownOf(RICH).arguments
  const window = shown.slice(0, 1).map((each) => ({ ...each, name: 'w', kind: 'TS_ROLLING' }))
  const samples = samplesOf([...shown, ...window], 1_700_000_000_000)
  assert.doesNotThrow(() => scriptTest.parse({ expression: 'return t;', arguments: samples }))
  assert.deepEqual((samples['t'] as { value: unknown }).value, 7)
})
