import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentConfiguration } from '../../engine/rulechain/configuration.ts'
import { createNode, runNode, testMessage } from '../testkit.ts'
import { copyKeys } from './copy-keys.ts'
import { deleteKeys } from './delete-keys.ts'
import { renameKeys } from './rename-keys.ts'

const upgraded = (definition: typeof copyKeys, configuration: object, configurationVersion: number) =>
  currentConfiguration(definition, { configuration: { ...configuration }, configurationVersion }).configuration

test('keys are regular expressions that match whole; values keep their spelling', async () => {
  const instance = await createNode(copyKeys, { copyFrom: 'DATA', keys: ['temp.*', '^h$', 'deep', 'no'] })
  const data = '{"temp1":1.0,"temp2":"x","atemp":3,"h":4e3,"hh":5,"deep":{"a":[1.50]},"no":null}'
  const [result] = await runNode(instance, testMessage({ data, metadata: { temp1: 'old', kept: 'k' } }))
  const [out] = result?.emissions ?? []
  assert.equal(out?.message.data, data)
  assert.deepEqual(out?.message.metadata, {
    temp1: '1.0',
    kept: 'k',
    temp2: 'x',
    h: '4000',
    deep: '{"a":[1.5]}',
    no: 'null',
  })
})

test('copied metadata is text in the body and takes the place of a member of its name', async () => {
  const instance = await createNode(copyKeys, { copyFrom: 'METADATA', keys: ['k1', 'k2', 'nope'] })
  const metadata = { k1: '10', k2: 'text', k3: 'z' }
  const [result] = await runNode(instance, testMessage({ data: '{"a":1.0,"k2":5}', metadata }))
  assert.equal(result?.emissions[0]?.message.data, '{"a":1.0,"k2":"text","k1":"10"}')
})

test('a body that is no object goes on as it is; one that is no JSON fails', async () => {
  for (const [definition, place] of [
    [copyKeys, { copyFrom: 'DATA' }],
    [deleteKeys, { deleteFrom: 'DATA' }],
  ] as const) {
    const instance = await createNode(definition, { ...place, keys: ['.*'] })
    for (const data of ['[1]', '5', 'null', '"a"']) {
      const message = testMessage({ data })
      const [result] = await runNode(instance, message)
      assert.deepEqual(result?.emissions, [{ message, relations: ['Success'] }])
    }
    const [broken] = await runNode(instance, testMessage({ data: '{' }))
    assert.deepEqual(broken?.emissions[0]?.relations, ['Failure'])
  }
})

test('deletes what matches, at the top level alone', async () => {
  const instance = await createNode(deleteKeys, { deleteFrom: 'DATA', keys: ['temp', 'x.*', '__proto__'] })
  const data = '{"temp":1,"hum":2,"x1":3,"ax":4,"in":{"temp":5},"__proto__":1}'
  const [result] = await runNode(instance, testMessage({ data }))
  assert.equal(result?.emissions[0]?.message.data, '{"hum":2,"ax":4,"in":{"temp":5}}')
})

test('members named like built-in ones are members like others', async () => {
  const instance = await createNode(copyKeys, { copyFrom: 'METADATA', keys: ['__proto__', 'constructor'] })
  const metadata = Object.fromEntries([['__proto__', 'p']])
  const [result] = await runNode(instance, testMessage({ data: '{"a":1}', metadata }))
  assert.equal(result?.emissions[0]?.message.data, '{"a":1,"__proto__":"p"}')
})

test('an expression that is none, one of endless cost, or no source is refused with its name', async () => {
  await assert.rejects(createNode(copyKeys, { copyFrom: 'DATA', keys: ['a('] }), /'a\(' is no regular expression/)
  await assert.rejects(createNode(deleteKeys, { deleteFrom: 'DATA', keys: ['(?=a)b'] }), /no regular expression/)
  await assert.rejects(createNode(deleteKeys, { deleteFrom: 'DATA', keys: Array(30).fill('.{1000}') }), /too large/)
  await assert.rejects(createNode(copyKeys, { copyFrom: null, keys: ['a'] }), /copyFrom/)
})

test('expressions that would take exponential time elsewhere are linear, and a message has a bound', async () => {
  const instance = await createNode(deleteKeys, { deleteFrom: 'DATA', keys: ['(a+)+$', '(.{50}a*)*b'] })
  const long = 'a'.repeat(100_000)
  const [linear] = await runNode(instance, testMessage({ data: `{"${long}!":1}` }))
  assert.deepEqual(linear?.emissions[0]?.relations, ['Success'])
  const [refused] = await runNode(instance, testMessage({ data: `{"${long.repeat(10)}!":1}` }))
  assert.match(refused?.error?.message ?? '', /too many keys/)
})

test('renames in turn, over what is there, and to itself means away', async () => {
  const run = async (renameKeysMapping: Record<string, string>, data: string): Promise<string | undefined> => {
    const instance = await createNode(renameKeys, { renameIn: 'DATA', renameKeysMapping })
    const [result] = await runNode(instance, testMessage({ data }))
    return result?.emissions[0]?.message.data
  }
  assert.equal(await run({ a: 'b' }, '{"a":1.0,"b":2}'), '{"b":1.0}')
  assert.equal(await run({ a: 'a' }, '{"a":1,"b":2}'), '{"b":2}')
  assert.equal(await run({ a: 'b', b: 'c' }, '{"a":null}'), '{"c":null}')
  assert.equal(await run({ 'a.b': 'c' }, '{"a":{"b":1}}'), '{"a":{"b":1}}')
  assert.equal(await run({ a: 'b' }, '[{"a":1}]'), '[{"a":1}]')
  await assert.rejects(createNode(renameKeys, { renameIn: 'DATA', renameKeysMapping: {} }), /renameKeysMapping/)
})

test('old configurations say the source by a boolean, later by a text', () => {
  assert.deepEqual(upgraded(copyKeys, { fromMetadata: true, keys: ['a'] }, 0), { keys: ['a'], copyFrom: 'METADATA' })
  assert.deepEqual(upgraded(copyKeys, { fromMetadata: 'DATA', keys: [] }, 1), { keys: [], copyFrom: 'DATA' })
  assert.deepEqual(upgraded(deleteKeys, { fromMetadata: false, keys: [] }, 0), { keys: [], deleteFrom: 'DATA' })
  assert.deepEqual(upgraded(deleteKeys, { dataToFetch: 'METADATA', keys: [] }, 1), { keys: [], deleteFrom: 'METADATA' })
  const renameKeysMapping = { a: 'b' }
  const renamed = { renameKeysMapping, renameIn: 'METADATA' }
  assert.deepEqual(upgraded(renameKeys, { fromMetadata: true, renameKeysMapping }, 0), renamed)
  assert.deepEqual(upgraded(renameKeys, { fromMetadata: 'METADATA', renameKeysMapping }, 1), renamed)
})

test('an old configuration that says nothing keeps what parses, and becomes the default otherwise', () => {
  assert.deepEqual(upgraded(copyKeys, { copyFrom: 'METADATA', keys: ['a'] }, 0), { copyFrom: 'METADATA', keys: ['a'] })
  assert.deepEqual(upgraded(copyKeys, { keys: 5 }, 0), copyKeys.defaultConfiguration)
})
