import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEVICE_COLUMNS, columnsOf, guessed } from './csv-shapes.js'

test('what a column holds is guessed by its head', () => {
  const heads = [
    'Name',
    'Device profile',
    'access-token',
    'shared:model',
    'series: temperature',
    'is gateway',
    'Site',
    'odd:key',
    '',
  ]
  assert.deepEqual(
    heads.map((head) => guessed(head, DEVICE_COLUMNS)),
    [
      'NAME',
      'TYPE',
      'ACCESS_TOKEN',
      'SHARED_ATTRIBUTE',
      'TIMESERIES',
      'IS_GATEWAY',
      'SERVER_ATTRIBUTE',
      'SERVER_ATTRIBUTE',
      '',
    ],
  )
})

test('columns are told as the server takes them, and one of them is the name', () => {
  const chosen = [
    { head: 'Name', type: 'NAME' },
    { head: 'Site', type: 'SERVER_ATTRIBUTE' },
    { head: 'shared: model', type: 'SHARED_ATTRIBUTE' },
    { head: 'Remarks', type: '' },
  ]
  assert.deepEqual(columnsOf(chosen), [
    { type: 'NAME' },
    { type: 'SERVER_ATTRIBUTE', key: 'Site' },
    { type: 'SHARED_ATTRIBUTE', key: 'model' },
    { type: 'SERVER_ATTRIBUTE' },
  ])
  assert.throws(() => columnsOf(chosen.slice(1)), /Say which column is the name/)
})

test('two columns that would write the same value are refused: the last one would win without a word', () => {
  const name = { head: 'Name', type: 'NAME' }
  const twice =
    (...others: { head: string; type: string }[]) =>
    () =>
      columnsOf([name, ...others])
  assert.throws(twice({ head: 'Title', type: 'NAME' }), /"Name" and "Title" are both the name/)
  assert.throws(
    twice({ head: 'shared: site', type: 'SHARED_ATTRIBUTE' }, { head: 'site', type: 'SHARED_ATTRIBUTE' }),
    /"shared: site" and "site" are both the attribute shared with it "site"/,
  )
  assert.doesNotThrow(twice({ head: 'site', type: 'SHARED_ATTRIBUTE' }, { head: 'site', type: 'SERVER_ATTRIBUTE' }))
  assert.doesNotThrow(twice({ head: 'a', type: '' }, { head: 'a', type: '' }))
})
