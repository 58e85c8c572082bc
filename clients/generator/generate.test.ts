import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import { generateClient } from './generate.ts'
import { typeOf } from './schema-types.ts'

const ANSWER = { place: 'answer', prefix: '' } as const
const BODY = { place: 'body', prefix: '' } as const

function described(operation: JsonObject, schemas: JsonObject = {}): JsonObject {
  const common = { operationId: 'getThing', summary: 'A thing.', description: 'For all.', parameters: [] }
  return {
    paths: { '/api/thing/{id}': { get: { ...common, responses: { 200: {} }, ...operation } } },
    components: { schemas },
  }
}

const answering = (schema: JsonObject) => ({ 200: { content: { 'application/json': { schema } } } })

describe('the generator of the client', () => {
  test('says each schema as a type', () => {
    const types: readonly (readonly [JsonObject, string])[] = [
      [{ type: ['string', 'null'] }, 'string | null'],
      [{ type: 'integer' }, 'number'],
      [{ type: 'string', format: 'binary' }, 'Blob'],
      [{ enum: ['A', 'B'] }, '"A" | "B"'],
      [{ const: 5 }, '5'],
      [{ type: 'array', items: { $ref: '#/components/schemas/Asset' } }, 'readonly (Asset)[]'],
      [{ type: 'object', additionalProperties: { type: 'boolean' } }, 'Readonly<Record<string, boolean>>'],
      [{ anyOf: [{ type: 'string' }, { anyOf: [{ type: 'string' }, { type: 'null' }] }] }, 'string | null'],
      [
        { type: 'object', properties: { a: {}, 'b-c': { type: 'string' } }, required: ['a'] },
        '{ readonly a: unknown; readonly "b-c"?: string }',
      ],
    ]
    for (const [schema, type] of types) assert.equal(typeOf(schema, ANSWER), type)
  })

  test('takes less in a body than it believes of an answer', () => {
    const some = { anyOf: [{ type: 'string' }, {}, { type: 'null' }] }
    assert.deepEqual([typeOf(some, BODY), typeOf(some, ANSWER)], ['string | null', 'unknown'])
    const file = { type: 'object', properties: { file: {} }, required: ['file'] }
    assert.equal(typeOf(file, { place: 'form', prefix: '' }), '{ readonly file: Blob }')
  })

  test('refuses what it can not say', () => {
    for (const schema of [{ allOf: [] }, { type: 'tuple' }, { $ref: '#/$defs/Asset' }])
      assert.throws(() => typeOf(schema, ANSWER), JSON.stringify(schema))
    const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } }
    const twice = described({ parameters: [id, { ...id, in: 'query' }] })
    assert.throws(() => generateClient(twice), /two parameters of getThing have one name/)
  })

  test('makes a signature for each case of an operation', () => {
    const parameter = (name: string) => ({ name, in: 'query', required: true, schema: { type: 'string' } })
    const caseOf = (name: string, type: string) => ({
      ...{ summary: `By ${name}.`, parameters: [parameter(name)], responses: answering({ type }) },
    })
    const { operations } = generateClient(
      described({
        parameters: [parameter('a'), parameter('b')],
        'x-cases': [caseOf('a', 'string'), caseOf('b', 'boolean')],
      }),
    )
    assert.ok(operations.includes('getThing(given: { readonly a: string }, options?: CallOptions): Promise<string>\n'))
    assert.ok(operations.includes('getThing(given: { readonly b: string }, options?: CallOptions): Promise<boolean>\n'))
    assert.ok(operations.includes(`query: ["a","b"] }, given, options)`))
  })

  test('takes all that a body may have where a named schema is sent', () => {
    const schemas = { Part: { type: 'object', properties: { a: { type: 'string' } } } }
    const schema = { $ref: '#/components/schemas/Part' }
    const sent = { requestBody: { required: true, content: { 'application/json': { schema } } } }
    assert.match(generateClient(described(sent, schemas)).types, /Part = \{ readonly a\?: string \| undefined \}/)
    const answered = { responses: answering(schema) }
    assert.match(generateClient(described(answered, schemas)).types, /Part = \{ readonly a\?: string \}/)
  })
})
