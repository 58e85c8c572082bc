import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnOfHead, delimiterOf, firstLines, headerEnd } from './csv-header.js'

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

test('the first line ends behind its line end, wherever quotes hold others', () => {
  const rest = (text: string) => text.slice(headerEnd(text, ','))
  assert.equal(rest('\uFEFFname,"si\nte"\r\na,b\n'), 'a,b\n')
  assert.equal(rest('\n\r\nname 🌡️\na\n'), 'a\n')
  assert.equal(rest('name'), '')
  assert.equal(rest(''), '')
})

test('a head names a type of column, and a key behind a prefix', () => {
  const heads = [
    'Name',
    'Device profile',
    ' access-token',
    'Token',
    'shared:model',
    'Series: a:b',
    'odd:key',
    'constructor',
  ]
  assert.deepEqual(heads.map(columnOfHead), [
    { type: 'NAME' },
    { type: 'TYPE' },
    { type: 'ACCESS_TOKEN' },
    { type: 'ACCESS_TOKEN' },
    { type: 'SHARED_ATTRIBUTE', key: 'model' },
    { type: 'TIMESERIES', key: 'a:b' },
    { type: 'ODD:KEY' },
    { type: 'CONSTRUCTOR' },
  ])
})
