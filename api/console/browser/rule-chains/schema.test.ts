import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogue } from '../../../../nodes/catalogue.ts'
import { blank, fieldsOf, firstMistake, mistakeIn, wordsOf, type Field } from './schema.js'

const fieldOf = (schema: object, name = 'a', required: readonly string[] = []): Field => {
  const [field] = fieldsOf({ properties: { [name]: schema }, required })
  assert.ok(field)
  return field
}
const NULL = { type: 'null' }

test('each shape of a schema has its field', () => {
  const kinds: readonly (readonly [object, string])[] = [
    [{ type: 'string' }, 'text'],
    [{ anyOf: [{ type: 'string' }, NULL] }, 'text'],
    [{ anyOf: [{ type: 'string', secret: 'text' }, NULL] }, 'secret'],
    [{ type: 'integer', minimum: 1 }, 'number'],
    [{ type: 'boolean' }, 'flag'],
    [{ type: ['boolean', 'null'] }, 'flag'],
    [{ type: ['string', 'integer'] }, 'json'],
    [{ type: 'string', enum: ['A', 'B'] }, 'choice'],
    [{ type: 'array', items: { type: 'string' } }, 'texts'],
    [{ type: 'array', items: { type: 'string', enum: ['A'] } }, 'choices'],
    [{ type: 'array', items: { type: 'object', properties: { b: {} } } }, 'rows'],
    [{ type: 'object', additionalProperties: { type: 'string' } }, 'map'],
    [{ type: 'object', properties: { b: { type: 'string' } } }, 'group'],
    [{ type: 'object', additionalProperties: {} }, 'json'],
    [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, 'json'],
    [{}, 'json'],
  ]
  for (const [schema, kind] of kinds) assert.equal(fieldOf(schema).kind, kind, JSON.stringify(schema))
})

test('groups that one member tells apart are variants', () => {
  const variant = (value: string, more: object) => ({
    type: 'object',
    properties: { type: { type: 'string', const: value }, ...more },
  })
  const field = fieldOf({
    oneOf: [variant('SKIP', {}), variant('EVERY', { seconds: { type: 'integer', minimum: 1 } })],
  })
  assert.deepEqual(
    [field.kind, field.tag, field.variants.map(({ value }) => value)],
    ['variant', 'type', ['SKIP', 'EVERY']],
  )
  assert.deepEqual(blank([field]), { a: { type: 'SKIP' } })
})

test('what is wrong is said as what to do', () => {
  const count = fieldOf({ type: 'integer', minimum: 1, maximum: 9 }, 'a', ['a'])
  const said = (field: Field, value: unknown) => mistakeIn(field, value)
  assert.equal(said(count, 5), '')
  assert.equal(said(count, Number.NaN), 'Write a whole number, such as 1.')
  assert.equal(said(count, 1.5), 'Write a whole number, such as 1.')
  assert.equal(said(count, 0), 'Write a whole number of at least 1.')
  assert.equal(said(count, 10), 'Write a whole number of at most 9.')
  assert.equal(said(count, undefined), 'Fill in a number.')
  assert.equal(said(fieldOf({ type: 'string' }, 'a', ['a']), ''), 'Fill it in.')
  assert.equal(said(fieldOf({ type: 'string' }), ''), '')
  assert.equal(said(fieldOf({ type: 'string', enum: ['A', 'B'] }), 'C'), 'Choose one of A, B.')
  assert.equal(firstMistake([count], { a: 0 }), 'A: Write a whole number of at least 1.')
})

test('a member without a title is named by its words', () => {
  assert.equal(wordsOf('useSystemProxyProperties'), 'Use system proxy properties')
})

for (const { type, configurationSchema, defaultConfiguration } of catalogue.all())
  test(`${type} has a form that finds nothing wrong with its defaults`, () => {
    const fields = fieldsOf(configurationSchema, defaultConfiguration)
    assert.equal(firstMistake(fields, defaultConfiguration), '')
    for (const { title } of fields) assert.notEqual(title, '')
  })

test('two fields of all nodes are written as JSON, and no others', () => {
  const fields = catalogue.all().flatMap((node) => fieldsOf(node.configurationSchema, node.defaultConfiguration))
  const asJson = fields.filter(({ kind }) => kind === 'json').map(({ name }) => name)
  assert.deepEqual(asJson.toSorted(), ['percentiles', 'proxyPort'])
})
