import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { EntityId } from '../../model/entity-id.ts'
import type { Entry } from '../../model/value.ts'
import type { AttributesSave } from '../../engine/rulechain/capabilities/attributes.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'

let platform: TestPlatform
let entity: EntityId
let devices = 0

before(async () => {
  platform = await openTestPlatform()
})
after(() => platform.close())
beforeEach(async () => {
  const device = await platform.services.devices.saveByUser(platform.tenant, { name: `attributes ${++devices}` })
  entity = { entityType: 'DEVICE', id: device.id }
  // Each begins with an entity that has none.
  const { attributes } = platform.entities
  await platform.entities.write([attributes.delete(device.id, 'SERVER_SCOPE', ['active'])])
  platform.link.messages.length = 0
  platform.changes.length = 0
})

function long(key: string, value: number): Entry {
  return { key, type: 'LONG', value }
}

function save(change: Partial<AttributesSave>): Promise<void> {
  const request = { tenantId: platform.tenantId, entity, scope: 'CLIENT_SCOPE', entries: [], sequence: 1 } as const
  return platform.services.attributes.save({ ...request, store: true, notify: true, notifyDevice: false, ...change })
}

async function values(): Promise<Record<string, unknown>> {
  const { value } = await platform.services.attributes.find(entity, undefined, undefined)
  return Object.fromEntries(
    value.map((attribute) => [`${attribute.scope.slice(0, 2)}.${attribute.key}`, attribute.value]),
  )
}

test('keeps every kind of value through the store', async () => {
  const entries: Entry[] = [
    { key: 'long', type: 'LONG', value: -9223372036854775808n },
    { key: 'whole', type: 'DOUBLE', value: 2 },
    { key: 'zero', type: 'DOUBLE', value: -0 },
    { key: 'text', type: 'STRING', value: 'é\u{1F600}' },
    { key: 'truth', type: 'BOOLEAN', value: false },
    { key: 'json', type: 'JSON', value: '{"a":[1,2.0]}' },
  ]
  await save({ entries })
  const { rows } = await platform.entities.attributes.all(entity.id)
  const byKey = new Map(rows.map((row) => [row.key, row]))
  for (const entry of entries) {
    assert.equal(byKey.get(entry.key)?.type, entry.type)
    assert.ok(Object.is(byKey.get(entry.key)?.value, entry.value), entry.key)
    assert.equal(byKey.get(entry.key)?.lastUpdateTs, platform.clock.time)
  }
})

test('a replayed older message overwrites nothing that a newer one wrote, and is not told', async () => {
  await save({ entries: [long('a', 2)], sequence: 20 })
  platform.changes.length = 0
  await save({ entries: [long('a', 1), long('b', 1)], sequence: 10 })
  assert.deepEqual(await values(), { 'CL.a': 2, 'CL.b': 1 })
  const [change] = platform.changes
  assert.ok(change?.kind === 'attributes')
  assert.deepEqual(
    change.attributes.map((attribute) => attribute.key),
    ['b'],
  )
})

test('a user’s write wins over any message before it, and the next message over it', async () => {
  const { services, tenant } = platform
  await save({ entries: [long('a', 1)], scope: 'SERVER_SCOPE', sequence: 50 })
  await services.attributes.saveByUser(tenant, entity, 'SERVER_SCOPE', [long('a', 2)])
  await save({ entries: [long('a', 3)], scope: 'SERVER_SCOPE', sequence: 40 })
  assert.deepEqual(await values(), { 'SE.a': 2 })
  await save({ entries: [long('a', 4)], scope: 'SERVER_SCOPE', sequence: 51 })
  assert.deepEqual(await values(), { 'SE.a': 4 })
})

test('a message that is tried again does not write over what a user wrote since its first try', async () => {
  const { services, tenant } = platform
  const retried = { entries: [long('a', 1)], scope: 'SERVER_SCOPE', sequence: 60 } as const
  await save(retried)
  await save({ ...retried, entries: [long('a', 2)] })
  assert.deepEqual(await values(), { 'SE.a': 2 }, 'a message may write twice')
  await services.attributes.saveByUser(tenant, entity, 'SERVER_SCOPE', [long('a', 3)])
  await services.attributes.saveByUser(tenant, entity, 'SERVER_SCOPE', [long('a', 4)])
  await save(retried)
  assert.deepEqual(await values(), { 'SE.a': 4 })
  await save({ ...retried, sequence: 61 })
  assert.deepEqual(await values(), { 'SE.a': 1 })
})

test('saves of one turn are one commit', async () => {
  const before = (await platform.entities.attributes.all(entity.id)).sequence
  await Promise.all(
    Array.from({ length: 50 }, (_, index) => save({ entries: [long(`k${index}`, index)], sequence: index + 1 })),
  )
  const { rows, sequence } = await platform.entities.attributes.all(entity.id)
  assert.equal(rows.length, 50)
  assert.equal(sequence, before + 1)
})

test('answers scope by scope in the order client, server, shared, and leaves out what is missing', async () => {
  await save({ entries: [long('x', 3)], scope: 'SHARED_SCOPE' })
  await save({ entries: [long('x', 2)], scope: 'SERVER_SCOPE' })
  await save({ entries: [long('x', 1)] })
  const { value } = await platform.services.attributes.find(entity, undefined, ['x', 'missing', 'x'])
  assert.deepEqual(
    value.map((attribute) => attribute.value),
    [1, 2, 3],
  )
  assert.deepEqual(await platform.services.attributes.keys(entity, undefined), ['x', 'x', 'x'])
  assert.deepEqual(await platform.services.attributes.keys(entity, 'SERVER_SCOPE'), ['x'])
})

test('whoever listens before it reads hears exactly what the read did not hold', async () => {
  for (const attributeCacheBytes of [1 << 20, 0]) {
    const own = await openTestPlatform({ attributeCacheBytes })
    const device = await own.services.devices.saveByUser(own.tenant, { name: 'raced' })
    const raced = { entityType: 'DEVICE', id: device.id } as const
    const request = {
      tenantId: own.tenantId,
      entity: raced,
      scope: 'SERVER_SCOPE',
      store: true,
      notify: true,
      notifyDevice: false,
    } as const
    const writes: Promise<void>[] = []
    for (let round = 1; round <= 40; round++) {
      const heard = new Map<number, number>()
      const stop = own.feed.listen(raced, (change) => {
        if (change.kind === 'attributes') heard.set(change.ownSequence ?? 0, Number(change.attributes[0]?.value))
      })
      for (let step = 0; step < 5; step++) {
        const entries = [long('counter', round * 10 + step)]
        writes.push(own.services.attributes.save({ ...request, entries, sequence: round * 10 + step }))
        if (step === 2 && round % 3 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      if (round % 4 === 0) await writes.at(-2)
      const snapshot = await own.services.attributes.find(raced, 'SERVER_SCOPE', ['counter'])
      await Promise.all(writes)
      stop()
      const later = [...heard].filter(([sequence]) => sequence > (snapshot.ownSequence ?? 0)).map(([, value]) => value)
      const seen = [Number(snapshot.value[0]?.value ?? -1), ...later]
      assert.equal(seen.at(-1), round * 10 + 4, `round ${round}: the last value is in the snapshot or heard after it`)
      assert.deepEqual(
        seen,
        [...new Set(seen)].sort((a, b) => a - b),
        `round ${round}: nothing twice, nothing out of order`,
      )
    }
    await own.close()
  }
})

test('what belongs to no tenant is stored, and told to no rule chain', async () => {
  const { services, systemAdministrator, link } = platform
  const self = { entityType: 'USER', id: systemAdministrator.userId } as const
  await services.attributes.saveByUser(systemAdministrator, self, 'SERVER_SCOPE', [long('theme', 1)])
  const points = [{ ts: 1, entries: [long('logins', 2)] }]
  await services.telemetry.saveByUser(systemAdministrator, self, points, 0)
  const { value } = await services.attributes.find(self, 'SERVER_SCOPE', undefined)
  assert.deepEqual(
    value.map(({ key }) => key),
    ['theme'],
  )
  assert.equal((await services.telemetry.latest(self, undefined)).value.length, 1)
  assert.deepEqual(link.messages, [])
})

test('long texts are stored as long as all attributes of the entity fit into memory together', async () => {
  const { services, tenant } = platform
  const long = (key: string): Entry[] => [{ key, type: 'STRING', value: key.padEnd(2 ** 20 - 1, '.') }]
  for (let index = 0; index < 15; index++) await save({ entries: long(`k${index}`), sequence: index + 1 })
  await services.attributes.saveByUser(tenant, entity, 'SERVER_SCOPE', long('k15'))
  const tooLong = { code: 'telemetry.ATTRIBUTES_TOO_LONG', kind: 'invalid', status: 400 }
  await assert.rejects(save({ entries: long('k16'), sequence: 99 }), tooLong)
  await assert.rejects(services.attributes.saveByUser(tenant, entity, 'SHARED_SCOPE', long('k16')), tooLong)
  await save({ entries: [{ key: 'short', type: 'STRING', value: 'still' }], sequence: 100 })
  await save({ entries: long('k1'), sequence: 100 })
  await services.attributes.deleteByUser(tenant, entity, 'CLIENT_SCOPE', ['k0'])
  await save({ entries: long('k16'), sequence: 101 })
  assert.equal(Object.keys(await values()).length, 17)
})

test('only devices have a client and a shared scope; others read them empty', async () => {
  const { services, tenant, customer } = platform
  const other: EntityId = { entityType: 'CUSTOMER', id: customer.customerId ?? '' }
  const refusal = { status: 400, message: 'Invalid scope: SHARED_SCOPE. Only devices have it' }
  await assert.rejects(services.attributes.saveByUser(tenant, other, 'SHARED_SCOPE', [long('a', 1)]), refusal)
  await assert.rejects(save({ entity: other, scope: 'SHARED_SCOPE', entries: [long('a', 1)] }), refusal)
  await assert.rejects(save({ entity: other, scope: 'CLIENT_SCOPE', entries: [long('a', 1)] }), { status: 400 })
  await services.attributes.saveByUser(tenant, other, 'SERVER_SCOPE', [long('a', 1)])
  const scopesOf = async (scope?: 'SHARED_SCOPE') =>
    (await services.attributes.find(other, scope, undefined)).value.map((attribute) => attribute.scope)
  assert.deepEqual(await scopesOf('SHARED_SCOPE'), [])
  assert.deepEqual(await scopesOf(), ['SERVER_SCOPE'])
})

test('a user cannot write the client scope', async () => {
  await assert.rejects(
    platform.services.attributes.saveByUser(platform.tenant, entity, 'CLIENT_SCOPE', [long('a', 1)]),
    {
      message: 'Invalid scope: CLIENT_SCOPE',
      status: 400,
    },
  )
})

for (const [key, message] of [
  [' ', 'Key cannot be blank'],
  ['<b>', 'Validation error: key is malformed'],
  ['k'.repeat(256), 'Validation error: key length must be equal or less than 255'],
] as const) {
  test(`refuses the key ${JSON.stringify(key.slice(0, 5))}`, async () => {
    const saved = platform.services.attributes.saveByUser(platform.tenant, entity, 'SERVER_SCOPE', [long(key, 1)])
    await assert.rejects(saved, { message, status: 400 })
    assert.deepEqual(await values(), {})
  })
}

test('tells the rule engine and the device of a user’s writes and deletions', async () => {
  const { services, tenant, link, changes } = platform
  await services.attributes.saveByUser(tenant, entity, 'SHARED_SCOPE', [
    long('a', 1),
    { key: 'b', type: 'DOUBLE', value: 2 },
  ])
  await services.attributes.deleteByUser(tenant, entity, 'SHARED_SCOPE', ['a', 'absent'])
  assert.deepEqual(
    link.messages.map((message) => [message.type, message.data, message.metadata['scope']]),
    [
      ['ATTRIBUTES_UPDATED', '{"a":1,"b":2.0}', 'SHARED_SCOPE'],
      ['ATTRIBUTES_DELETED', '{"attributes":["a","absent"]}', 'SHARED_SCOPE'],
    ],
  )
  assert.deepEqual(
    changes.map((change) => change.kind),
    ['attributes', 'attributes-deleted'],
  )
  assert.deepEqual(await values(), { 'SH.b': 2 })
  await assert.rejects(services.attributes.deleteByUser(tenant, entity, 'SHARED_SCOPE', []), {
    message: 'Empty keys: []',
  })
})

test('what the platform takes away is told under the number of its commit, after what was read before', async () => {
  const { services, changes, entities } = platform
  await save({ entries: [long('a', 1), long('b', 2)], scope: 'SHARED_SCOPE' })
  const read = await services.attributes.find(entity, 'SHARED_SCOPE', undefined)
  changes.length = 0
  await services.attributes.delete(entity, 'SHARED_SCOPE', ['a'])
  const [told] = changes
  assert.ok(told?.kind === 'attributes-deleted')
  assert.equal(told.sequence, (await entities.attributes.all(entity.id)).sequence)
  assert.ok((told.ownSequence ?? 0) > (read.ownSequence ?? 0))
  assert.deepEqual(await values(), { 'SH.b': 2 })
})

test('marks who is to hear a save', async () => {
  const shared = { scope: 'SHARED_SCOPE', entries: [long('a', 1)] } as const
  await save({ ...shared, notify: true, notifyDevice: true })
  await save({ ...shared, notify: true, notifyDevice: false })
  await save({ ...shared, notify: false, notifyDevice: true })
  await save({ ...shared, notify: false, notifyDevice: false })
  const audiences = platform.changes.map((change) => (change.kind === 'attributes' ? change.audience : change.kind))
  assert.deepEqual(audiences, ['all', 'subscribers', 'device', 'caches'])
})

test('what is only shown is not stored', async () => {
  await save({ entries: [long('shown', 1)], store: false })
  assert.deepEqual(await values(), {})
  assert.equal(platform.changes.length, 1)
})

test('what another process changes, or may have changed, is read from the store', async () => {
  await save({ entries: [long('a', 1)] })
  assert.deepEqual(await values(), { 'CL.a': 1 })
  const store = async (value: number): Promise<void> => {
    const attribute = { ...long('a', value), lastUpdateTs: 1, scope: 'CLIENT_SCOPE' } as const
    const write = { entityId: entity.id, scope: attribute.scope, attribute, sequence: 0 }
    await platform.entities.write([platform.entities.attributes.save([write])])
  }
  await store(2)
  assert.deepEqual(await values(), { 'CL.a': 1 }, 'nobody told')
  const change = { kind: 'attributes', entity, sequence: undefined, scope: 'CLIENT_SCOPE', attributes: [] } as const
  platform.feed.publish({ ...change, remote: true })
  assert.deepEqual(await values(), { 'CL.a': 2 })
  await store(3)
  platform.feed.gap()
  assert.deepEqual(await values(), { 'CL.a': 3 })
})

test('what can never be stored costs its own message, not those it went with', async (context) => {
  const own = await openTestPlatform()
  context.after(() => own.close())
  const write = own.entities.write.bind(own.entities)
  // As a database with a bound on keys does.
  const refusing: typeof write = (statements) => {
    const keys = statements.flatMap((statement) => statement.parameterRows ?? []).map((row) => String(row[2]))
    return keys.some((key) => key.length > 1_000)
      ? Promise.reject(EntityStoreErrors.CONSTRAINT({ constraint: 'too long' }))
      : write(statements)
  }
  Object.assign(own.entities, { write: refusing })
  const request = { tenantId: own.tenantId, entity, scope: 'CLIENT_SCOPE', sequence: 1, store: true } as const
  const saves = ['a', 'x'.repeat(2_000), 'b'].map((key) =>
    own.services.attributes.save({ ...request, entries: [long(key, 1)], notify: false, notifyDevice: false }),
  )
  const settled = await Promise.allSettled(saves)
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(
    (await own.entities.attributes.all(entity.id)).rows.map(({ key }) => key),
    ['a', 'b'],
  )
})
