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
