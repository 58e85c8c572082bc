import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { dashboards } from '../entities/dashboard.ts'
import { calculatedFields } from '../entities/calculated-field.ts'
import { customers } from '../entities/customer.ts'
import { testRandom, type TestPlatform } from '../testkit.ts'

/** Rows of every table, in the order in which they are brought in. */
async function rowsOf({ services: { tenantTransfer }, tenantId }: TestPlatform) {
  const pieces: { readonly table: string; readonly rows: readonly string[] }[] = []
  for (const table of tenantTransfer.tables)
    pieces.push({ table, rows: (await tenantTransfer.page(tenantId, table, undefined)).rows })
  return pieces
}

await onBothDatabases('bringing a tenant in, ', (open) => {
  test('secrets of rule nodes are masked in the rows, and what is there keeps them', async (context) => {
    const platform = await open()
    context.after(() => platform.close())
    const { services, entities, tenant, tenantId, systemAdministrator } = platform
    const { ruleChains, tenantTransfer } = services
    const chain = await ruleChains.saveByUser(tenant, { name: 'with a secret' })
    const save = (password: string, id?: string) =>
      ruleChains.saveGraphByUser(tenant, {
        ruleChainId: chain.id,
        firstNodeIndex: 0,
        nodes: [{ id, type: 'test.Node', name: 'n', configuration: { password }, additionalInfo: {} }],
        connections: [],
      })
    const opened = async () => {
      const graph = await entities.ruleChains.graph(chain.id)
      return graph?.nodes.map((node) => ruleChains.openConfiguration(node))
    }
    const { nodes } = await save('hunter2')
    const { rows } = await tenantTransfer.page(tenantId, 'rule_chain', undefined)
    assert.ok(!JSON.stringify(rows).includes('hunter2') && !JSON.stringify(rows).includes('sealed:'))
    assert.ok(JSON.stringify(rows).includes('********'))
    const { created, changed } = await tenantTransfer.apply(systemAdministrator, tenantId, 'rule_chain', rows)
    assert.deepEqual([created, changed], [0, 0])
    await save('another', nodes[0]?.id)
    await tenantTransfer.apply(systemAdministrator, tenantId, 'rule_chain', rows)
    assert.deepEqual(await opened(), [{ password: 'another' }])
    // A file of before has them in clear.
    const inClear = rows.map((row) => row.replaceAll('********', 'of the file'))
    await tenantTransfer.apply(systemAdministrator, tenantId, 'rule_chain', inClear)
    assert.deepEqual(await opened(), [{ password: 'of the file' }])
    const lying = (await entities.ruleChains.graph(chain.id))?.nodes[0]?.configuration['password']
    assert.ok(typeof lying === 'string' && lying.startsWith('sealed:'))
    await ruleChains.deleteByUser(tenant, chain.id)
    const { toFillIn } = await tenantTransfer.apply(systemAdministrator, tenantId, 'rule_chain', rows)
    assert.deepEqual(toFillIn, ['with a secret: n: password'])
    await assert.rejects(opened(), { code: 'rule-chain.SECRET_MASKED' })
  })

  test('a chain is brought in with its graph at once: at no piece it is there in part, and it is told of once', async (context) => {
    const platform = await open()
    context.after(() => platform.close())
    const { services, tenant, tenantId, systemAdministrator, changes } = platform
    const { ruleChains, tenantTransfer } = services
    const root = await ruleChains.root(tenantId)
    assert.ok(root)
    const graph = async () => {
      const found = await ruleChains.graph(tenantId, root.id)
      return { first: found?.firstNodeIndex, nodes: found?.nodes, connections: found?.connections }
    }
    const whole = await graph()
    assert.ok(whole.connections && whole.connections.length > 0)
    const pieces = await rowsOf(platform)
    const node = { type: 'test.Node', name: 'only', configuration: {}, additionalInfo: {} }
    await ruleChains.saveGraphByUser(tenant, {
      ruleChainId: root.id,
      firstNodeIndex: 0,
      nodes: [node],
      connections: [],
    })
    const other = await graph()
    const { version } = (await ruleChains.find(tenantId, root.id)) ?? {}

    changes.length = 0
    for (const { table, rows } of pieces) {
      await tenantTransfer.apply(systemAdministrator, tenantId, table, rows)
      const now = await graph()
      assert.ok([whole, other].some(({ nodes }) => nodes?.length === now.nodes?.length))
      assert.deepEqual(now, now.nodes?.length === 1 ? other : whole, `after ${table}`)
    }
    assert.deepEqual(await graph(), whole)
    assert.equal(changes.filter(({ kind }) => kind === 'rule-chain-changed').length, 1)
    // Whoever reads the graph sees by the version that it is another.
    assert.equal((await ruleChains.find(tenantId, root.id))?.version, (version ?? 0) + 1)

    changes.length = 0
    for (const { table, rows } of pieces) {
      const counts = await tenantTransfer.apply(systemAdministrator, tenantId, table, rows)
      assert.deepEqual([counts.created, counts.changed], [0, 0], table)
    }
    assert.deepEqual(changes, [])
  })

  test('the same rows brought in twice at once are there once, and neither import is refused', async (context) => {
    const platform = await open()
    context.after(() => platform.close())
    const { services, tenant, tenantId, systemAdministrator } = platform
    const own = services.declared.of(customers)
    for (const title of ['a', 'b', 'c']) await own.saveByUser(tenant, { title })
    const { rows } = await services.tenantTransfer.page(tenantId, 'customer', undefined)
    for (const { id } of await own.findAllBy(tenantId, {})) await own.deleteByUser(tenant, id)
    const bringIn = () => services.tenantTransfer.apply(systemAdministrator, tenantId, 'customer', rows)
    const both = await Promise.all([bringIn(), bringIn()])
    assert.deepEqual(both.map(({ created, same }) => [created, same]).sort(), [
      [0, rows.length],
      [rows.length, 0],
    ])
    assert.deepEqual((await services.tenantTransfer.page(tenantId, 'customer', undefined)).rows, rows)
  })

  test('no version of a chain has two graphs: a save that comes between is compared with, too', async (context) => {
    const platform = await open()
    context.after(() => platform.close())
    const { services, entities, tenant, tenantId, systemAdministrator } = platform
    const { ruleChains, tenantTransfer } = services
    const chain = await ruleChains.saveByUser(tenant, { name: 'between' })
    const save = (...names: readonly string[]) =>
      ruleChains.saveGraphByUser(tenant, {
        ...{ ruleChainId: chain.id, firstNodeIndex: null, connections: [] },
        nodes: names.map((name) => ({ type: 'test.Node', name, configuration: {}, additionalInfo: {} })),
      })
    await save('of the file')
    const { rows } = await tenantTransfer.page(tenantId, 'rule_chain', undefined)
    await save('changed')
    const write = entities.write.bind(entities)
    let between = 0
    context.mock.method(entities, 'write', async (steps: Parameters<typeof write>[0]) => {
      const isImport = steps.some(({ parameters }) => parameters.some((value) => String(value).includes('"imported"')))
      if (isImport && between === 0) between = (await save('between', 'another')).version
      return write(steps)
    })
    await tenantTransfer.apply(systemAdministrator, tenantId, 'rule_chain', rows)
    const graph = await entities.ruleChains.graph(chain.id)
    assert.deepEqual(
      graph?.nodes.map(({ name }) => name),
      ['of the file'],
    )
    assert.equal(graph.version, between + 1)
  })

  test('a chain without its graph is refused before anything is written', async (context) => {
    const platform = await open()
    context.after(() => platform.close())
    const { services, tenantId, systemAdministrator } = platform
    const pieces = await rowsOf(platform)
    const row = pieces.find(({ table }) => table === 'rule_chain')?.rows.find((text) => text.includes('from_node_id'))
    assert.ok(row)
    const { rule_node: _nodes, ...bare } = JSON.parse(row) as Record<string, unknown>
    await assert.rejects(
      services.tenantTransfer.apply(systemAdministrator, tenantId, 'rule_chain', [JSON.stringify(bare)]),
      { code: 'tenant-transfer.ROW' },
    )
    const strange = row.replaceAll(/"rule_chain_id":"[^"]+"/g, `"rule_chain_id":"${tenantId}"`)
    await assert.rejects(services.tenantTransfer.apply(systemAdministrator, tenantId, 'rule_chain', [strange]), {
      code: 'tenant-transfer.ROW',
    })
  })

  test('an import is in the audit log of the tenant, and what is under way stays where it is', async (context) => {
    const platform = await open()
    context.after(() => platform.close())
    const { services, tenantId, systemAdministrator, entities } = platform
    const { tenantTransfer } = services
    for (const table of ['rpc', 'notification_request', 'ota_update', 'job', 'queue_stats'])
      assert.ok(!tenantTransfer.tables.includes(table), table)
    const { rows } = await tenantTransfer.page(tenantId, 'device', undefined)
    const renamed = rows.map((row) => row.replace('"name":"Demo Thermometer"', '"name":"Another"'))
    assert.notDeepEqual(renamed, rows)
    await tenantTransfer.apply(systemAdministrator, tenantId, 'device', renamed)
    const page = await entities.auditLog.page(
      { tenantId, startTime: 0, endTime: Number.MAX_SAFE_INTEGER, actionTypes: [] },
      { page: 0, pageSize: 100 },
    )
    assert.ok(page.data.some(({ actionData }) => actionData.includes('"imported":"device"')))
  })

  test('long rows come in pages that a call can answer, each once', async (context) => {
    const platform = await open()
    context.after(() => platform.close())
    const { services, tenant, tenantId } = platform
    const all = services.declared.of(dashboards)
    for (let index = 0; index < 60; index++)
      await all.saveByUser(tenant, { title: `long ${index}`, configuration: { text: 'x'.repeat(200_000) } })
    const ids = new Set<string>()
    let pages = 0
    for (let after: string | undefined = ''; after !== undefined; pages++) {
      const page = await services.tenantTransfer.page(tenantId, 'dashboard', after === '' ? undefined : after)
      assert.ok(page.rows.join('').length < 8 << 20)
      for (const row of page.rows) ids.add((JSON.parse(row) as { id: string }).id)
      after = page.next
    }
    assert.ok(pages > 1)
    assert.equal(ids.size, await all.count(tenantId, {}))
  })

  test('rows that no save would have taken are refused, in the plan already', async (context) => {
    const platform = await open()
    context.after(() => platform.close())
    const { services, tenant, tenantId, systemAdministrator, entities, clock, random } = {
      ...platform,
      random: testRandom,
    }
    const { tenantTransfer } = services
    const main = await entities.queues.findByName(tenantId, 'Main')
    assert.ok(main)
    const own = {
      ...main,
      id: random.uuid(),
      createdTime: clock.now(),
      version: 1,
      tenantId,
      name: 'Own',
      topic: 'own',
    }
    await entities.write(entities.queues.insert(own))
    await services.devices.saveByUser(tenant, { name: 'any', type: 'pump' })
    const changed = async (table: string, column: string, value: unknown) => {
      const { rows } = await tenantTransfer.page(tenantId, table, undefined)
      const [row] = rows
      assert.ok(row)
      return [JSON.stringify({ ...(JSON.parse(row) as Record<string, unknown>), [column]: value })]
    }
    for (const [table, column, value] of [
      ['queue', 'submit_strategy', '{"type":"ANY","batchSize":1}'],
      ['queue', 'submit_strategy', 'no JSON'],
      ['queue', 'processing_strategy', '{}'],
      ['queue', 'partitions', 0],
      ['queue', 'pack_processing_timeout', -1],
      ['device_profile', 'profile_data', '5'],
      ['device_profile', 'profile_data', '{"transportConfiguration":5}'],
      ['device_profile', 'transport_type', 'PIGEON'],
      ['device', 'additional_info', 'no JSON'],
      ['device', 'created_time', 'yesterday'],
      ['device', 'name', 5],
    ] as const) {
      const rows = await changed(table, column, value)
      const refused = { code: 'tenant-transfer.ROW' }
      const what = `${table}.${column} ${value}`
      await assert.rejects(tenantTransfer.plan(tenantId, table, rows), refused, what)
      await assert.rejects(tenantTransfer.apply(systemAdministrator, tenantId, table, rows), refused, what)
    }
    const [mqtt = ''] = await changed('device_profile', 'transport_type', 'MQTT')
    for (const transportConfiguration of [{ sparkplug: 'yes' }, { sparkplugAttributesMetricNames: [5] }]) {
      const profile = { ...(JSON.parse(mqtt) as object), profile_data: JSON.stringify({ transportConfiguration }) }
      const plan = tenantTransfer.plan(tenantId, 'device_profile', [JSON.stringify(profile)])
      await assert.rejects(plan, { code: 'tenant-transfer.ROW' })
    }
    const unchanged = (await tenantTransfer.page(tenantId, 'queue', undefined)).rows
    assert.equal((await tenantTransfer.plan(tenantId, 'queue', unchanged)).same, 1)
  })

  test('a calculated field that reads another tenant’s entity is not brought in', async (context) => {
    const platform = await open()
    context.after(() => platform.close())
    const { services, tenant, tenantId, systemAdministrator } = platform
    const { id: other } = await services.tenants.saveByUser(systemAdministrator, { title: 'Other' })
    const stranger = await services.devices.saveByUser({ ...tenant, tenantId: other }, { name: 'theirs' })
    const own = await services.devices.saveByUser(tenant, { name: 'own' })
    const entityId = { entityType: 'DEVICE', id: own.id } as const
    const read = { refEntityKey: { key: 'a', type: 'TS_LATEST' }, refEntityId: entityId }
    const output = { type: 'TIME_SERIES', name: 'o' }
    const configuration = { type: 'SIMPLE', arguments: { a: read }, expression: 'a', output }
    await services.declared
      .of(calculatedFields)
      .saveByUser(tenant, { name: 'f', type: 'SIMPLE', entityId, configuration })
    const { rows } = await services.tenantTransfer.page(tenantId, 'calculated_field', undefined)
    const foreign = rows.map((row) => {
      const { configuration: text, ...rest } = JSON.parse(row) as { configuration: string }
      return JSON.stringify({ ...rest, configuration: text.replace(own.id, stranger.id) })
    })
    assert.notDeepEqual(foreign, rows)
    await assert.rejects(services.tenantTransfer.apply(systemAdministrator, tenantId, 'calculated_field', foreign), {
      code: 'tenant-transfer.FOREIGN',
    })
  })
})
