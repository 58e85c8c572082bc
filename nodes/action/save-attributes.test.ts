import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import type { MessageDraft, TestContext } from '../testkit.ts'
import { saveAttributes } from './save-attributes.ts'

const base: JsonObject = { scope: 'SERVER_SCOPE', processingSettings: { type: 'ON_EVERY_MESSAGE' } }

async function run(change: JsonObject, context: TestContext, ...drafts: readonly MessageDraft[]) {
  const instance = await createNode(saveAttributes, { ...base, ...change }, context)
  const messages = drafts.map((draft) => testMessage({ type: 'POST_ATTRIBUTES_REQUEST', ...draft }))
  return runNode(instance, ...messages)
}

test('the metadata scope goes before the configured one, and an unknown scope fails', async () => {
  const context = testContext()
  const scopes = [undefined, '', 'CLIENT_SCOPE', 'NO_SCOPE']
  const drafts = scopes.map((scope) => ({ data: '{"a":1}', metadata: scope === undefined ? {} : { scope } }))
  const results = await run({}, context, ...drafts)
  assert.deepEqual(
    context.attributeSaves.map(({ scope }) => scope),
    ['SERVER_SCOPE', 'SERVER_SCOPE', 'CLIENT_SCOPE'],
  )
  assert.match(results[3]?.error?.message ?? '', /NO_SCOPE/)
})

test('an empty body succeeds without a save, an array and a null value fail', async () => {
  const context = testContext()
  const results = await run({}, context, { data: '{}' }, { data: '[{"a":1}]' }, { data: '{"a":null}' })
  assert.deepEqual(
    results.map(({ emissions }) => emissions[0]?.relations[0]),
    ['Success', 'Failure', 'Failure'],
  )
  const scoped = { data: '{}', metadata: { scope: 'NO_SCOPE' } }
  assert.deepEqual((await run({}, context, scoped))[0]?.emissions[0]?.relations, ['Success'])
  assert.deepEqual(context.attributeSaves, [])
})

test('a blank key and one with HTML fail the message, also where the decoder knew the entries', async () => {
  const context = testContext()
  const entries = [' ', '<b>x</b>'].map((key) => ({ key, type: 'LONG', value: 1 }) as const)
  const known = entries.map((entry) => ({ data: '{}', known: { entries: [entry] } }))
  const results = await run({}, context, { data: '{" ":1}' }, { data: '{"<b>x</b>":1}' }, ...known)
  for (const { error } of results) assert.match(error?.message ?? 'no error', /blank|HTML/)
  assert.deepEqual(context.attributeSaves, [])
})

test('only on change: what has the stored value and type is not written again', async () => {
  const context = testContext()
  context.fakes.attributes.add([
    { key: 'same', type: 'LONG', value: 1 },
    { key: 'otherType', type: 'LONG', value: 2 },
    { key: 'otherValue', type: 'STRING', value: 'x' },
  ])
  const change = { updateAttributesOnlyOnValueChange: true, sendAttributesUpdatedNotification: true }
  await run(change, context, { data: '{"same":1,"otherType":2.0,"otherValue":"y","fresh":true}' })
  assert.deepEqual(
    context.attributeSaves[0]?.entries.map(({ key }) => key),
    ['otherType', 'otherValue', 'fresh'],
  )
  const [unchanged] = await run(change, context, { data: '{"same":1}' })
  assert.deepEqual(unchanged?.emissions[0]?.relations, ['Success'])
  assert.equal(context.attributeSaves.length, 1)
  assert.equal(context.enqueued.length, 1)
})

test('without only-on-change every attribute is written', async () => {
  const context = testContext()
  context.fakes.attributes.add([{ key: 'same', type: 'LONG', value: 1 }])
  await run({}, context, { data: '{"same":1}' })
  assert.equal(context.attributeSaves[0]?.entries.length, 1)
})

test('"Attributes Updated" is put into the chain after the save, never for client attributes', async () => {
  const context = testContext()
  const metadata = { deviceName: 'A', scope: 'SHARED_SCOPE' }
  await run({ sendAttributesUpdatedNotification: true }, context, { data: '{"a":2.0}', metadata })
  await run({ sendAttributesUpdatedNotification: true, scope: 'CLIENT_SCOPE' }, context, { data: '{"a":1}' })
  assert.equal(context.attributeSaves.length, 2)
  const [update, ...others] = context.enqueued
  assert.deepEqual(others, [])
  assert.equal(update?.type, 'ATTRIBUTES_UPDATED')
  assert.equal(update.data, '{"a":2.0}')
  assert.deepEqual(update.metadata, { ruleNodeId: context.ruleNodeId, scope: 'SHARED_SCOPE' })
})

test('a refused save is a Failure and nothing is announced', async () => {
  const context = testContext()
  context.failSavesWith(new Error('disk full'))
  const [result] = await run({ sendAttributesUpdatedNotification: true }, context, { data: '{"a":1}' })
  assert.equal(result?.error?.message, 'disk full')
  assert.deepEqual(context.enqueued, [])
})

test('the device is told of shared attributes unless its own upload says not to', async () => {
  const told = async (change: JsonObject, metadata: Record<string, string>): Promise<boolean | undefined> => {
    const context = testContext()
    await run(change, context, { data: '{"a":1}', metadata })
    return context.attributeSaves[0]?.notifyDevice
  }
  assert.equal(await told({ scope: 'SHARED_SCOPE' }, {}), true)
  assert.equal(await told({ scope: 'SHARED_SCOPE' }, { notifyDevice: 'false' }), false)
  assert.equal(await told({ scope: 'SHARED_SCOPE', notifyDevice: true }, { notifyDevice: 'false' }), true)
  assert.equal(await told({ scope: 'SERVER_SCOPE', notifyDevice: true }, {}), false)
})

test('old configurations are raised step by step', () => {
  const upgrade = (configuration: JsonObject, version: number) => saveAttributes.upgrade?.(configuration, version)
  const processingSettings = { type: 'ON_EVERY_MESSAGE' }
  assert.deepEqual(upgrade({ scope: 'CLIENT_SCOPE' }, 0), {
    scope: 'CLIENT_SCOPE',
    notifyDevice: true,
    sendAttributesUpdatedNotification: false,
    updateAttributesOnlyOnValueChange: false,
    processingSettings,
  })
  assert.deepEqual(upgrade({ notifyDevice: 'false', sendAttributesUpdatedNotification: 'true' }, 1), {
    notifyDevice: false,
    sendAttributesUpdatedNotification: true,
    updateAttributesOnlyOnValueChange: true,
    processingSettings,
  })
  assert.deepEqual(upgrade({ notifyDevice: false }, 2), { notifyDevice: false, processingSettings })
})
