import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEVICE_COLUMNS, columnsOf, delimiterOf, firstLines, guessed } from './csv-shapes.js'

test('the first lines of a file are cut at its delimiter, and not in quotes', () => {
  const text = '\uFEFFName;"Site; floor";"Say ""hi"""\r\n\r\n"a\nb";2;x"y\r\nc;3;4\n'
  assert.equal(delimiterOf(text), ';')
  assert.deepEqual(firstLines(text, ';', 2), [
    ['Name', 'Site; floor', 'Say "hi"'],
    ['a\nb', '2', 'x"y'],
  ])
  assert.deepEqual(firstLines('name\n', ',', 2), [['name']])
  assert.equal(delimiterOf('name\na,b'), ',')
  assert.equal(delimiterOf('name\tlabel\n'), '\t')
  assert.equal(delimiterOf('"Site, hall";Name\n'), ';')
  assert.equal(delimiterOf('\r\nname;label\n'), ';')
})

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
