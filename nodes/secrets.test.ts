import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { isJsonObject, parseJson, type JsonValue } from '../model/json.ts'
import type { SecretKind, SecretShape } from '../model/secret-members.ts'
import { ruleNodes } from './catalogue.ts'
import { orZero } from './define-node.ts'
import { SECRET, SECRET_BY_NAME, SECRET_LOGIN, secretShapeOf } from './secrets.ts'

/** Names that smell of a secret. */
const SMELLS =
  /passw|passphrase|secret|token|privatekey|private_key|credential|apikey|sas(l|key)|jaas|(access|account|service|shared|signing|auth)key|headers|properties|queryparams|url/i

/** Members of such a name that are none, and why. */
const NO_SECRETS: Readonly<Record<string, string>> = {
  accessKey: 'the name of a key, as a user name',
  accessKeyId: 'the name of a key, as a user name',
  serviceAccountKeyFileName: 'the name that the file had, which editors show',
  privateKeyFileName: 'the name that the file had, which editors show',
  queueUrlPattern: 'Amazon takes no login in it',
  kafkaHeadersCharset: 'the name of a charset',
  fetchCredentialsToMetadata: 'says where something is put',
  useSystemProxyProperties: 'a flag',
}

describe('secrets in the declarations of nodes', () => {
  for (const { name, configurationSchema, secrets = {} } of ruleNodes)
    test(`${name}: each member whose name smells of a secret is marked, or listed as none`, () => {
      assert.deepEqual(forgotten(configurationSchema, secrets, ''), [])
    })

  test('a member that is not marked is found', () => {
    const text = z.string().nullish()
    const configuration = z.object({
      myToken: text,
      login: z.object({ passphrase: text }).nullish(),
      flag: z.boolean(),
    })
    const found = forgotten(parseJson(JSON.stringify(z.toJSONSchema(configuration))), secretShapeOf(configuration), '')
    assert.deepEqual(found, ['.myToken', '.login.passphrase'])
  })

  test('marks are found behind every wrapper', () => {
    const marked = z.string().meta(SECRET)
    const configuration = z
      .looseObject({
        plain: z.string(),
        ...{ optional: marked.nullish(), behind: z.string().nullish().meta(SECRET).meta({ title: 'T' }) },
        zero: orZero(marked, '').meta({ title: 'T' }),
        either: z.union([z.number(), z.looseObject({ pin: marked })]),
        list: z.array(z.object({ pin: marked })).default([]),
        headers: orZero(z.record(z.string(), z.string()), {}).meta(SECRET_BY_NAME),
        url: z.string().meta(SECRET_LOGIN),
      })
      .nullish()
    assert.deepEqual(secretShapeOf(configuration), {
      ...{ optional: 'text', behind: 'text', zero: 'text', either: { pin: 'text' }, list: { pin: 'text' } },
      ...{ headers: 'named', url: 'login' },
    })
  })
})

/** Paths of what holds texts, smells and is not marked. */
function forgotten(schema: JsonValue, shape: SecretKind | SecretShape | undefined, path: string): readonly string[] {
  if (!isJsonObject(schema) || typeof shape === 'string') return []
  const found: string[] = []
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  for (const [name, member] of Object.entries(properties)) {
    const marked = shape?.[name]
    const isNone = Object.hasOwn(NO_SECRETS, name)
    if (SMELLS.test(name) && marked === undefined && !isNone && holdsTexts(member)) found.push(`${path}.${name}`)
    else found.push(...forgotten(member, marked, `${path}.${name}`))
  }
  const inner = [schema['items'], ...['anyOf', 'oneOf', 'allOf'].flatMap((name) => schema[name] ?? [])].flat()
  return [...found, ...inner.flatMap((each) => forgotten(each ?? null, shape, path))]
}

/** A text or a record of texts. An object of named members is looked into. */
function holdsTexts(schema: JsonValue): boolean {
  if (!isJsonObject(schema)) return false
  const types = [schema['type']].flat()
  if (types.includes('string') && !Object.hasOwn(schema, 'enum')) return true
  if (isJsonObject(schema['additionalProperties']) && !isJsonObject(schema['properties'])) return true
  if (types.includes('array')) return true
  return ['anyOf', 'oneOf', 'allOf'].some((name) => {
    const inner = schema[name]
    return Array.isArray(inner) && inner.some(holdsTexts)
  })
}
