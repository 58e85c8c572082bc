/** What a turn needs is there without a wait where nothing has to be read, and is the same as with one. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { isLater } from '../../../engine/rulechain/capabilities/soon.ts'
import { openField } from '../../../nodes/calculated/kinds.ts'
import { entityId, type EntityId } from '../../../model/entity-id.ts'
import type { JsonObject } from '../../../model/json.ts'
import { calculatedFields } from '../../entities/calculated-field.ts'
import { devices } from '../../entities/device.ts'
import { recordWith } from '../../entities/rows.ts'
import { openTestPlatform } from '../../testkit.ts'
import { KnownFacts } from './facts.ts'
import { FieldIndex } from './field-index.ts'
import type { Payload } from './payload.ts'
import { CalculationReader } from './reader.ts'
import { RelatedEntities } from './related.ts'
import type { EntityState, FieldState } from './states.ts'

const VALUES: Payload = {
  ...{ kind: 'values', source: 'series', values: [['temperature', 1, 1]], deleted: [] },
  type: 'POST_TELEMETRY_REQUEST',
}
const OTHER_ID = '66666666-6666-4666-8666-666666666666'
const OWN: JsonObject = { refEntityKey: { key: 'temperature', type: 'TS_LATEST' } }
const OWNERS: JsonObject = {
  refEntityKey: { key: 'limit', type: 'ATTRIBUTE', scope: 'SERVER_SCOPE' },
  refDynamicSourceConfiguration: { type: 'CURRENT_OWNER' },
}

/** A device with one field of version 2 that has such an argument. */
async function opened(t: TestContext, argument: JsonObject) {
  const platform = await openTestPlatform()
  const { services, feed, tenant, tenantId } = platform
  const { id } = await services.declared.of(devices).saveByUser(tenant, { name: 'pump' })
  const device = entityId('DEVICE', id)
  const field = recordWith(
    calculatedFields,
    { id: 'f', createdTime: 1, version: 2, tenantId },
    {
      ...{ name: 'f', entityId: device, type: 'SIMPLE' },
      configuration: {
        ...{ type: 'SIMPLE', expression: 't', output: { type: 'TIME_SERIES', name: 'o' } },
        arguments: { t: argument },
      },
    },
  )
  const index = new FieldIndex(
    {
      fields: { findAnywhere: () => Promise.resolve(field), findWhere: () => Promise.resolve([field]) },
      ...{ feed, open: openField, report: assert.fail },
      toolsOf: () => ({ limit: () => 0, compile: () => ({ call: () => 0 }), compileWithArguments: assert.fail }),
    },
    () => undefined,
  )
  await index.start()
  const { declared, relations, attributes, telemetry, alarms, limits } = services
  const routeOf = () => Promise.resolve({ tenantId, customerId: null, ruleChainId: null, queueName: null })
  const facts = new KnownFacts({ declared, routeOf, feed })
  const related = new RelatedEntities({ relations, feed })
  t.after(async () => {
    for (const one of [index, facts, related]) one.close()
    await platform.close()
  })
  const reader = new CalculationReader({
    ...{ declared, attributes, telemetry, alarms, limits, index, facts, related },
  })
  const read = (payload: Payload | undefined, state: EntityState | undefined, of: EntityId = device) =>
    reader.read(tenantId, of, payload, state, 1_000)
  const state = (held: Partial<FieldState>, owner = tenantId): EntityState => ({
    ...{ entity: ['DEVICE', id], owner },
    fields: { f: { version: 2, args: { t: { one: [1, 1] } }, own: null, ...held } },
  })
  return { read, state, facts, limits, device, tenantId }
}

test('values of an entity whose field has all it needs wait for nothing, and meet what they meet with a wait', async (t) => {
  const { read, state, facts, device } = await opened(t, OWN)
  const first = read(VALUES, state({}))
  assert.ok(isLater(first), 'whose the device is has to be read')
  const waited = await first
  const known = read(VALUES, state({}))
  assert.ok(!isLater(known))
  assert.deepEqual(known, waited)
  assert.deepEqual([known.fields.length, known.loaded.size, known.facts?.owner.entityType], [1, 0, 'TENANT'])
  facts.forget(device)
  assert.ok(isLater(read(VALUES, state({}))))
})

test('limits that can not be read fail the message alone', async (t) => {
  const { read, state, limits } = await opened(t, OWN)
  await read(VALUES, state({}))
  t.mock.method(limits, 'soon', () => Promise.reject(new Error('the database is away')))
  const known = read(VALUES, state({}))
  assert.ok(isLater(known))
  await assert.rejects(known, { message: 'the database is away' })
})

test('values behind news of the field or of the entity, read in the same turn, wait for what the news brings', async (t) => {
  const { read, state } = await opened(t, OWN)
  await read(VALUES, state({}))
  for (const news of [{ kind: 'entity' }, { kind: 'field', id: 'f', version: 3 }] as const) {
    assert.ok(!isLater(read(VALUES, state({}))))
    const told = read(news, state({}))
    const behind = read(VALUES, state({}))
    assert.ok(isLater(behind), news.kind)
    await Promise.all([told, behind])
  }
})

test('a series of which points went is read again', async (t) => {
  const { read, state } = await opened(t, OWN)
  await read(VALUES, state({}))
  const gone = (key: string): Payload => ({ ...VALUES, values: [], deleted: [key] })
  const known = read(gone('temperature'), state({}))
  assert.ok(isLater(known))
  assert.deepEqual([...(await known).loaded], [['f', { args: { t: {} } }]])
  assert.ok(!isLater(read(gone('another'), state({}))))
})

test('of the same key of another entity it is not', async (t) => {
  const { read, state, device } = await opened(t, OWN)
  await read(VALUES, state({}))
  const gone = (from: EntityId): Payload => ({ ...VALUES, values: [], deleted: ['temperature'], from })
  assert.deepEqual([...(await read(gone(entityId('ASSET', OTHER_ID)), state({}))).loaded], [])
  assert.equal((await read(gone(device), state({}))).loaded.size, 1)
})

test('what has to be read is waited for', async (t) => {
  const { read, state, tenantId } = await opened(t, OWNERS)
  await read(VALUES, state({}))
  assert.ok(!isLater(read(VALUES, state({}))))
  const withAnother = state({})
  Object.assign(withAnother.fields, { g: { version: 1, args: {}, own: null } })
  const waiting: Record<string, readonly [Payload | undefined, EntityState | undefined, EntityId?]> = {
    'a device that begins': [VALUES, undefined],
    'an older version': [VALUES, state({ version: 1 })],
    'a version that is not here yet': [VALUES, state({ version: 3 })],
    'a field that is not here yet': [VALUES, withAnother],
    'an argument without anything': [VALUES, state({ args: {} })],
    'another owner': [VALUES, state({}, 'another')],
    'its time to read again': [VALUES, state({ reloadAt: 1_000 })],
    'an alarm that changed': [{ kind: 'alarm' }, state({})],
    'a wake-up': [undefined, state({})],
    "the owner's own values": [
      { ...VALUES, source: 'SERVER_SCOPE', values: [['limit', 1, 1]] },
      state({}),
      entityId('TENANT', tenantId),
    ],
  }
  for (const [name, asked] of Object.entries(waiting)) {
    await read(...asked)
    const known = read(...asked)
    assert.ok(isLater(known), name)
    const { fields, loaded, forwards } = await known
    assert.equal(forwards.length, name === "the owner's own values" ? 1 : 0, name)
    if (name === 'another owner' || name === 'an older version') assert.deepEqual([...loaded.keys()], ['f'], name)
    assert.ok(fields.length <= 1)
  }
})
