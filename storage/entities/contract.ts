/**
 * What every entity store promises, whatever the database: an implementation's test calls this with a way to open an
 * empty one.
 */
import { customers } from '../../services/entities/customer.ts'
import { tenants } from '../../services/entities/tenant.ts'
import { deviceProfiles } from '../../services/entities/device-profile.ts'
import { devices, type Device } from '../../services/entities/device.ts'
import { rowsOf } from '../../services/entities/rows.ts'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { parseJson } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import {
  attribute,
  chainOf,
  deviceOf,
  findDevice,
  household,
  insertionOf,
  pageOfDevices,
  nodeOf,
  tokenOf,
  userOf,
  type Check,
} from './contract-testkit.ts'
import { testRelations } from './contract-relations.ts'
import { testDeviceProfiles, testQueues } from './contract-queues.ts'
import type { EntityStore } from './entity-store.ts'

export interface ContractStore {
  readonly store: EntityStore
  close(): Promise<void>
}

/** Checks the promises of repositories and of `write`. */
export function testEntityStore(name: string, open: () => Promise<ContractStore>): void {
  const check = (sentence: string, run: (store: EntityStore) => Promise<void>): void => {
    test(`${name}: ${sentence}`, async () => {
      const opened = await open()
      try {
        await run(opened.store)
      } finally {
        await opened.close()
      }
    })
  }
  testTransactions(check)
  testRecords(check)
  testPages(check)
  testAttributes(check)
  testRuleChains(check)
  testQueues(check)
  testRelations(check)
  testDeviceProfiles(check)
  testRest(check)
}

function testTransactions(check: Check): void {
  check('a transaction is all or nothing', async (store) => {
    const { tenant, profile } = await household(store)
    const good = deviceOf(tenant, profile, 'good')
    const twin = deviceOf(tenant, profile, 'good')
    await assert.rejects(store.write([good, twin].map((device) => insertionOf(store, device))), {
      message: 'Device with such name already exists!',
      code: 'entities.NAME_TAKEN',
    })
    assert.equal(await findDevice(store, good.id), undefined)
  })

  check('of transactions that share a commit only the bad ones are undone', async (store) => {
    const { tenant, profile } = await household(store)
    const writes = Array.from({ length: 50 }, (_, index) =>
      store.write([insertionOf(store, deviceOf(tenant, profile, `device ${index % 40}`))]),
    )
    const results = await Promise.allSettled(writes)
    assert.equal(results.filter((result) => result.status === 'rejected').length, 10)
    const page = await pageOfDevices(store, tenant.id, { pageSize: 1, page: 0 })
    assert.equal(page.totalElements, 40)
  })

  check('of updates of one version that meet exactly one wins', async (store) => {
    const { tenant, profile } = await household(store)
    const device = deviceOf(tenant, profile, 'raced')
    await store.write([insertionOf(store, device)])
    const updates = ['a', 'b', 'c'].map((label) =>
      store.write([rowsOf(devices, store).update(devices.rowOf({ ...device, version: 2, label }))]),
    )
    const results = await Promise.allSettled(updates)
    assert.deepEqual(
      results.map((result) => result.status),
      ['fulfilled', 'rejected', 'rejected'],
    )
    const [, refused] = results
    assert.ok(refused?.status === 'rejected')
    assert.equal((refused.reason as Error).message, 'Device was already changed by someone else')
    assert.equal((await findDevice(store, device.id))?.label, 'a')
  })

  check('a reference to what is not there is refused', async (store) => {
    const { tenant, profile } = await household(store)
    const device = { ...deviceOf(tenant, profile, 'lost'), deviceProfileId: randomUUID() }
    await assert.rejects(store.write([insertionOf(store, device)]), { code: 'entities.CONSTRAINT', status: 400 })
  })

  check('commits have rising numbers, and a read says up to which it speaks', async (store) => {
    const save = (value: number) => store.write([store.attributes.save([attribute('e', 'k', value, value)])])
    const first = await save(1)
    const before = await store.attributes.all('e')
    const second = await save(2)
    const after = await store.attributes.all('e')
    assert.ok(
      first.sequence <= before.sequence && before.sequence < second.sequence && second.sequence <= after.sequence,
    )
  })
}

function testRecords(check: Check): void {
  check('records are read as they were written', async (store) => {
    const { tenant, customer, profile } = await household(store)
    const additionalInfo = parseJson('{"big":9223372036854775807,"whole":2.0,"text":"é\\u0000","list":[null,true]}')
    const device = {
      ...deviceOf(tenant, profile, 'näme 1%_\\'),
      customerId: customer.id,
      label: 'label',
      additionalInfo,
    }
    await store.write([insertionOf(store, device)])
    const read = await findDevice(store, device.id)
    assert.deepEqual(read, device)
    const tenantRows = await rowsOf(tenants, store).findAll([])
    assert.deepEqual(
      tenantRows.map((found) => tenants.recordOf(found)),
      [tenant],
    )
    const row = await rowsOf(customers, store).find([{ column: 'id', is: customer.id }])
    assert.deepEqual(row && customers.recordOf(row), customer)
    const stored = await rowsOf(deviceProfiles, store).find([{ column: 'id', is: profile.id }])
    assert.deepEqual(stored && deviceProfiles.recordOf(stored), profile)
  })

  check('a device is found by its credentials, with what its sessions need', async (store) => {
    const { tenant, customer, profile } = await household(store)
    const device = { ...deviceOf(tenant, profile, 'known'), customerId: customer.id, label: 'by the door' }
    await store.write([insertionOf(store, device), ...store.deviceCredentials.insert(tokenOf(device, 'TOKEN'))])
    assert.deepEqual((await store.deviceCredentials.findDevices('ACCESS_TOKEN', ['TOKEN'])).get('TOKEN'), {
      deviceId: device.id,
      tenantId: tenant.id,
      customerId: customer.id,
      deviceName: 'known',
      deviceLabel: 'by the door',
      deviceType: profile.name,
      deviceProfileId: profile.id,
      transportType: 'DEFAULT',
      ruleChainId: null,
      queueName: null,
    })
    const other = deviceOf(tenant, profile, 'other')
    await store.write([insertionOf(store, other), ...store.deviceCredentials.insert(tokenOf(other, 'OTHER'))])
    const both = await store.deviceCredentials.findDevices('ACCESS_TOKEN', ['TOKEN', 'nobody', 'OTHER'])
    assert.deepEqual([...both].map(([token, { deviceName }]) => [token, deviceName]).sort(), [
      ['OTHER', 'other'],
      ['TOKEN', 'known'],
    ])
    assert.deepEqual(await store.deviceCredentials.findDeviceById(device.id), both.get('TOKEN'))
    assert.equal(await store.deviceCredentials.findDeviceById(tenant.id), undefined)
    assert.equal((await store.deviceCredentials.findDevices('X509_CERTIFICATE', ['TOKEN'])).get('TOKEN'), undefined)
    assert.equal((await store.deviceCredentials.findDevices('ACCESS_TOKEN', ['token'])).get('token'), undefined)
  })

  check('a token serves one device over all tenants', async (store) => {
    const first = await household(store)
    const second = await household(store)
    const mine = deviceOf(first.tenant, first.profile, 'same name')
    const theirs = deviceOf(second.tenant, second.profile, 'same name')
    await store.write([insertionOf(store, mine), ...store.deviceCredentials.insert(tokenOf(mine, 'TOKEN'))])
    const taken = store.write([insertionOf(store, theirs), ...store.deviceCredentials.insert(tokenOf(theirs, 'TOKEN'))])
    await assert.rejects(taken, { message: 'Device credentials are already assigned to another device!' })
    assert.equal(await findDevice(store, theirs.id), undefined)
  })

  check('a deleted device takes its credentials and attributes along', async (store) => {
    const { tenant, profile } = await household(store)
    const device = deviceOf(tenant, profile, 'gone')
    await store.write([insertionOf(store, device), ...store.deviceCredentials.insert(tokenOf(device, 'TOKEN'))])
    await store.write([store.attributes.save([attribute(device.id, 'k', 1, 1)])])
    const gone = [rowsOf(devices, store).delete(device), ...store.deleteAttached(device.id)]
    await store.write([...gone, store.cleanups.note(device.id)])
    assert.equal((await store.deviceCredentials.findDevices('ACCESS_TOKEN', ['TOKEN'])).get('TOKEN'), undefined)
    assert.deepEqual((await store.attributes.all(device.id)).rows, [])
    assert.deepEqual(await store.cleanups.pending(), [device.id])
    await store.write([store.cleanups.done(device.id)])
    assert.deepEqual(await store.cleanups.pending(), [])
  })

  check(
    'issue-8 2.8: ends of sessions are rows of their own, added by whoever, and go when they are over',
    async (store) => {
      await Promise.all([store.endedSessions.add([['one', 1000]], 1), store.endedSessions.add([['two', 2000]], 1)])
      await store.endedSessions.add([['one', 5000]], 1)
      assert.deepEqual(await Promise.all(['one', 'two', 'three'].map((id) => store.endedSessions.has(id))), [
        true,
        true,
        false,
      ])
      await store.endedSessions.add([], 1000)
      assert.deepEqual(await Promise.all(['one', 'two'].map((id) => store.endedSessions.has(id))), [false, true])
    },
  )

  check('issue-8 E: devices whose credentials changed since a time are found at once, for an hour', async (store) => {
    const hour = 3_600_000
    await store.write([...store.credentialChanges.note('a', 1000), ...store.credentialChanges.note('b', 2000)])
    await store.write(store.credentialChanges.note('a', 3000))
    assert.deepEqual(await store.credentialChanges.since(1000, 10), ['a', 'b'])
    assert.deepEqual(await store.credentialChanges.since(2001, 10), ['a'])
    assert.deepEqual(await store.credentialChanges.since(3001, 10), [])
    assert.deepEqual(await store.credentialChanges.since(0, 1), ['a'])
    await store.write(store.credentialChanges.note('c', 2001 + hour))
    assert.deepEqual(await store.credentialChanges.since(0, 10), ['c', 'a'], 'what is over goes')
  })

  check('an address is one user’s over the whole system', async (store) => {
    const { tenant } = await household(store)
    const user = userOf(tenant, 'a@example.org')
    assert.equal(await store.users.hasAny(), false)
    await store.write(store.users.insert(user, { passwordHash: 'hash', tokensValidFrom: 5 }))
    assert.equal(await store.users.hasAny(), true)
    assert.deepEqual(await store.users.findByEmail('a@example.org'), user)
    assert.equal(await store.users.findByEmail('A@example.org'), undefined)
    const again = userOf(tenant, 'a@example.org')
    await assert.rejects(store.write(store.users.insert(again, { passwordHash: 'x', tokensValidFrom: 0 })), {
      message: "User with email 'a@example.org' already present in database!",
    })
    const credentials = await store.users.credentials(user.id)
    assert.ok(credentials !== undefined)
    assert.deepEqual([credentials.userId, credentials.passwordHash, credentials.tokensValidFrom], [user.id, 'hash', 5])
    assert.equal(credentials.isEnabled, true)
    await store.write(store.users.changePassword(credentials, 'new hash', 9))
    await assert.rejects(store.write(store.users.changePassword(credentials, 'late', 10)), { status: 409 })
    assert.equal((await store.users.credentials(user.id))?.passwordHash, 'new hash')
  })
}

function testPages(check: Check): void {
  check('pages are sorted, counted and cut, with the id where nothing else is said', async (store) => {
    const { tenant, profile } = await household(store)
    const names = ['delta', 'alpha', 'charlie', 'bravo', 'echo']
    const devices = names.map((each, index) => ({
      ...deviceOf(tenant, profile, each),
      label: index < 2 ? 'same' : null,
    }))
    await store.write(devices.map((device) => insertionOf(store, device)))
    const page = (number: number, change: object = {}) =>
      pageOfDevices(store, tenant.id, { pageSize: 2, page: number, sortProperty: 'name', ...change })
    const namesOf = (found: { data: readonly Device[] }) => found.data.map((device) => device.name)
    const first = await page(0)
    assert.deepEqual([first.totalElements, first.totalPages, first.hasNext], [5, 3, true])
    assert.deepEqual(namesOf(first), ['alpha', 'bravo'])
    const last = await page(2)
    assert.deepEqual([namesOf(last), last.hasNext], [['echo'], false])
    assert.deepEqual(namesOf(await page(0, { sortOrder: 'DESC' })), ['echo', 'delta'])
    const past = await page(9)
    assert.deepEqual([past.data, past.totalElements, past.hasNext], [[], 5, false])
    const byId = await pageOfDevices(store, tenant.id, { pageSize: 10, page: 0 })
    assert.deepEqual(
      byId.data.map((device) => device.id),
      devices.map((device) => device.id).sort(),
    )
  })

  check('a text search finds the text anywhere, in any case; a percent sign stands for any text', async (store) => {
    const { tenant, profile } = await household(store)
    const names = ['100% Éclair', '100 plain', 'under_score', 'underXscore', 'back\\slash']
    await store.write(names.map((each) => insertionOf(store, deviceOf(tenant, profile, each))))
    const find = async (textSearch: string) =>
      (await pageOfDevices(store, tenant.id, { pageSize: 9, page: 0, textSearch, sortProperty: 'name' })).data.map(
        (d) => d.name,
      )
    assert.deepEqual(await find('éCLA'), ['100% Éclair'])
    assert.deepEqual(await find('1%ÉCL'), ['100% Éclair'])
    assert.deepEqual(await find('R_S'), ['under_score'])
    assert.deepEqual(await find('\\'), ['back\\slash'])
    assert.equal((await find(' ')).length, 5)
    assert.deepEqual(await find("'; drop table device; --"), [])
  })

  check('active and connected devices are found in the order of their ids, behind one', async (store) => {
    const { tenant, profile } = await household(store)
    const [mine, idle] = [deviceOf(tenant, profile, 'mine'), deviceOf(tenant, profile, 'idle')]
    await store.write([mine, idle].map((device) => insertionOf(store, device)))
    const active = { key: 'active', type: 'BOOLEAN', value: true, lastUpdateTs: 1 } as const
    await store.write([
      store.attributes.save([{ entityId: mine.id, scope: 'SERVER_SCOPE', attribute: active, sequence: 0 }]),
    ])
    const all = await store.devices.findActive('', 1000)
    assert.ok(all.includes(mine.id) && !all.includes(idle.id))
    assert.ok(!(await store.devices.findActive(mine.id, 1000)).includes(mine.id))
    assert.equal((await store.devices.findActive('', 1)).length, 1)
    const at = (key: string, value: number) => ({
      ...({ entityId: idle.id, scope: 'SERVER_SCOPE', sequence: 0 } as const),
      attribute: { key, type: 'LONG', value, lastUpdateTs: 1 } as const,
    })
    for (const [came, went, isFound] of [
      [5, undefined, true],
      [5, 6, false],
      [7, 6, true],
    ] as const) {
      const attributes = [at('lastConnectTime', came), ...(went === undefined ? [] : [at('lastDisconnectTime', went)])]
      await store.write([store.attributes.save(attributes)])
      const found = await store.devices.findActive('', 1000)
      assert.equal(found.includes(idle.id), isFound, `${came} ${went}`)
      assert.deepEqual(found, found.toSorted())
      assert.equal(new Set(found).size, found.length)
    }
  })

  check('refuses pages that cannot be', async (store) => {
    const page = (query: object) => pageOfDevices(store, randomUUID(), { pageSize: 1, page: 0, ...query })
    await assert.rejects(page({ pageSize: 0 }), {
      message: "Incorrect page link page size '0'. Page size must be greater than zero.",
      restCode: 31,
    })
    await assert.rejects(page({ page: -1 }), {
      message: "Incorrect page link page '-1'. Page must be positive integer.",
    })
    for (const sortProperty of ['nope', 'toString', 'title; drop table customer']) {
      await assert.rejects(page({ sortProperty }), { message: 'Invalid sort property', status: 400 })
    }
  })
}

function testAttributes(check: Check): void {
  check('an older message overwrites nothing of a newer one, a user’s write everything', async (store) => {
    const save = async (value: number, sequence: number) => {
      const written = await store.write([store.attributes.save([attribute('e', 'k', value, sequence)])])
      return written.results[0]?.untouched
    }
    assert.deepEqual(await save(1, 10), [])
    assert.deepEqual(await save(2, 9), [0])
    assert.deepEqual(await save(3, 10), [])
    assert.deepEqual(await save(4, 0), [])
    assert.deepEqual(await save(5, 9), [0])
    const value = async () => (await store.attributes.all('e')).rows.map((row) => row.value)
    assert.deepEqual(await value(), [4])
    assert.deepEqual(await save(6, 11), [])
    assert.deepEqual(await value(), [6])
  })

  check('the same key lives in three scopes, and deleting touches one', async (store) => {
    const scopes = ['SHARED_SCOPE', 'CLIENT_SCOPE', 'SERVER_SCOPE'] as const
    const writes = scopes.map((scope) => ({ ...attribute('e', 'k', 1, 1), scope }))
    await store.write([store.attributes.save(writes)])
    await store.write([store.attributes.delete('e', 'SERVER_SCOPE', ['k', 'absent'])])
    assert.deepEqual(
      (await store.attributes.all('e')).rows.map((row) => row.scope),
      ['CLIENT_SCOPE', 'SHARED_SCOPE'],
    )
  })
}

function testRuleChains(check: Check): void {
  check('a graph is replaced whole, with its order, connections and notes', async (store) => {
    const { tenant } = await household(store)
    const chain = chainOf(tenant, 'chain', false)
    await store.write(store.ruleChains.insert(chain))
    assert.deepEqual(await store.ruleChains.graph(chain.id), {
      ruleChainId: chain.id,
      version: 1,
      firstNodeIndex: null,
      nodes: [],
      connections: [],
    })
    const nodes = ['b', 'a', 'c'].map((each) => nodeOf(chain, each))
    const connections = [
      { fromIndex: 0, toIndex: 1, type: 'x' },
      { fromIndex: 1, toIndex: 2, type: 'True' },
    ]
    const graph = {
      ruleChainId: chain.id,
      version: 2,
      firstNodeIndex: 1,
      nodes,
      connections,
      notes: [{ content: 'note' }],
    }
    const raised = { ...chain, version: 2, firstRuleNodeId: nodes[1]?.id ?? null }
    await store.write([...store.ruleChains.update(raised), ...store.ruleChains.replaceGraph(graph)])
    assert.deepEqual(await store.ruleChains.graph(chain.id), graph)
    assert.deepEqual(await store.ruleChains.all(), [raised])
    await store.write(store.ruleChains.delete(raised))
    assert.equal(await store.ruleChains.graph(chain.id), undefined)
  })

  check('a tenant has one root chain a type', async (store) => {
    const { tenant } = await household(store)
    const root = chainOf(tenant, 'root', true)
    await store.write(store.ruleChains.insert(root))
    await assert.rejects(store.write(store.ruleChains.insert(chainOf(tenant, 'second root', true))), {
      code: 'entities.CONSTRAINT',
    })
    assert.deepEqual(await store.ruleChains.root(tenant.id, 'CORE'), root)
    assert.equal(await store.ruleChains.root(tenant.id, 'EDGE'), undefined)
  })
}

function testRest(check: Check): void {
  check('the outbox gives messages back in order until they are removed', async (store) => {
    const message = new Message({
      id: randomUUID(),
      ts: 12,
      type: 'ENTITY_CREATED',
      tenantId: randomUUID(),
      originator: { entityType: 'DEVICE', id: randomUUID() },
      customerId: randomUUID(),
      metadata: { scope: 'é', empty: '' },
      data: '{"a":9223372036854775807,"b":2.0}',
      ruleChainId: randomUUID(),
      queueName: 'Slow',
    })
    const plain = message.with({
      customerId: undefined,
      ruleChainId: undefined,
      queueName: undefined,
      data: 'plain',
      dataType: 'TEXT',
    })
    const written = await store.write([store.outbox.add(message), store.outbox.add(plain)])
    const ids = [store.outbox.addedId(written, 0), store.outbox.addedId(written, 1)]
    const entries = await store.outbox.after(0, 10)
    assert.deepEqual(
      entries.map((entry) => entry.id),
      ids,
    )
    assert.deepEqual(
      entries.map((entry) => entry.message),
      [message, plain],
    )
    assert.equal((await store.outbox.after(ids[0] ?? 0, 10)).length, 1)
    await store.write([store.outbox.remove(ids.slice(0, 1))])
    assert.equal(await store.outbox.size(), 1)
    const later = await store.write([store.outbox.add(message)])
    assert.ok(store.outbox.addedId(later, 0) > (ids[1] ?? 0))
  })

  check('a setting is put once, or replaced', async (store) => {
    assert.equal(await store.settings.find('jwt'), undefined)
    const wishes = ['a', 'b', 'c'].map((key) => store.settings.putIfAbsent('jwt', { key }))
    const inForce = await Promise.all(wishes)
    assert.deepEqual(inForce, [{ key: 'a' }, { key: 'a' }, { key: 'a' }])
    await store.settings.put('jwt', { key: 'd' })
    assert.deepEqual(await store.settings.find('jwt'), { key: 'd' })
  })
}
