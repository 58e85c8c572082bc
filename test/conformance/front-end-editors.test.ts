/**
 * What the editors of front ends load, save, export and import: rule chains, dashboards with what they show, widgets, images, files.
 * Source: `rest-api.md` 8 and 14.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DEMO_SYSADMIN, DEMO_TENANT, login } from '../support/clients.ts'
import { FrontEnd, tablePage, type PageOf, type Ref, type Row } from '../support/front-end.ts'
import { until } from '../support/until.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

interface Node {
  readonly id?: Ref
  readonly type: string
  readonly name: string
  readonly configuration: object
  readonly additionalInfo: object | null
}
interface Graph {
  readonly ruleChainId: Ref
  readonly version?: number | null
  readonly firstNodeIndex: number | null
  readonly nodes: readonly Node[]
  readonly connections:
    readonly { readonly fromIndex: number; readonly toIndex: number; readonly type: string }[] | null
}

describe('the editors of front ends', () => {
  let millrace: RunningMillrace
  let tenant: FrontEnd
  let sysadmin: FrontEnd

  before(async () => {
    millrace = await startMillrace()
    tenant = new FrontEnd(millrace, await login(millrace, DEMO_TENANT))
    sysadmin = new FrontEnd(millrace, await login(millrace, DEMO_SYSADMIN))
  })
  after(() => millrace.stop())

  const upload = async (
    method: string,
    path: string,
    members: Readonly<Record<string, string>>,
    bytes = GIF,
    name = 'dot.gif',
  ) => {
    const body = new FormData()
    body.set('file', new Blob([Uint8Array.from(bytes)]), name)
    for (const [member, value] of Object.entries(members)) body.set(member, value)
    const headers = { 'x-authorization': `Bearer ${tenant.token}` }
    const answer = await fetch(millrace.url + path, { method, headers, body })
    const text = await answer.text()
    assert.equal(answer.status, 200, `${method} ${path}: ${text}`)
    return JSON.parse(text) as Row & { readonly link: string; readonly resourceKey: string }
  }

  test('the editor of rule chains loads, moves a node, adds one, saves, and imports what it exported', async () => {
    const chain = await tenant.post<Row>('/api/ruleChain/device/default', { name: 'Edited' })
    const path = `/api/ruleChain/${chain.id.id}`
    const graph = await tenant.get<Graph>(`${path}/metadata`)
    const components = await tenant.get<readonly { clazz: string }[]>(
      '/api/components?componentTypes=ENRICHMENT,FILTER,TRANSFORMATION,ACTION,ANALYTICS,EXTERNAL,FLOW&ruleChainType=CORE',
    )
    for (const { type } of graph.nodes)
      assert.ok(
        components.some(({ clazz }) => clazz === type),
        type,
      )
    const [head, ...others] = graph.nodes
    assert.ok(head)
    const moved = { ...head, additionalInfo: { ...head.additionalInfo, layoutX: 300.5, layoutY: -20, description: '' } }
    const added = {
      ...{
        type: 'org.thingsboard.rule.engine.filter.TbJsFilterNode',
        name: 'Added',
        singletonMode: false,
        queueName: '',
      },
      ...{ configurationVersion: 0, debugSettings: { failuresEnabled: true, allEnabled: false, allEnabledUntil: 0 } },
      configuration: { scriptLang: 'TBEL', tbelScript: 'return true;', jsScript: 'return true;' },
      additionalInfo: { layoutX: 1, layoutY: 2, description: '' },
    }
    const connections = [...(graph.connections ?? []), { fromIndex: 0, toIndex: graph.nodes.length, type: 'Success' }]
    const sent = { ...graph, nodes: [moved, ...others, added], connections, ruleChainConnections: [] }
    const saved = await tenant.post<Graph>('/api/ruleChain/metadata', sent)
    assert.deepEqual([saved.nodes[0], saved.nodes.length], [moved, graph.nodes.length + 1])
    assert.equal(saved.version, (graph.version ?? 0) + 1)
    assert.equal((await tenant.rest.call('POST', '/api/ruleChain/metadata', sent)).status, 409)
    assert.deepEqual(await tenant.get(`${path}/metadata`), saved)
    // The settings of the chain are saved beside it, and are not overtaken by its graph.
    const settings = await tenant.get<Row>(path)
    assert.equal((await tenant.post<Row>('/api/ruleChain', { ...settings, debugMode: true }))['debugMode'], true)
    // A file has no ids: the chain, then its graph.
    const {
      id: _id,
      createdTime: _time,
      tenantId: _tenant,
      version: _version,
      externalId: _external,
      ...file
    } = settings
    const imported = await tenant.post<Row>('/api/ruleChain', { ...file, firstRuleNodeId: null, root: false })
    const { ruleChainId: _chain, version: _graphVersion, ...drawn } = saved
    const nodes = drawn.nodes.map(({ id: _nodeId, ...node }) => ({ ...node, ruleChainId: undefined }))
    const copy = await tenant.post<Graph>('/api/ruleChain/metadata', { ...drawn, nodes, ruleChainId: imported.id })
    assert.deepEqual(
      copy.nodes.map(({ name }) => name),
      saved.nodes.map(({ name }) => name),
    )
    assert.deepEqual(copy.connections, saved.connections)
    const node = `/api/events/RULE_NODE/${copy.nodes[0]?.id?.id}`
    const search = tablePage('createdTime', { tenantId: (chain['tenantId'] as Ref).id, startTime: '', endTime: '' })
    const events = async (filter: object) =>
      (await tenant.post<PageOf>(node + search, { eventType: 'LC_EVENT', ...filter })).totalElements
    await until(async () => (await events({})) > 0)
    const empty = { server: '', event: '', status: '', errorStr: '' }
    assert.deepEqual([await events({ status: 'Failure' }), (await events(empty)) > 0], [0, true])
    await tenant.post(`${node}/clear?startTime=&endTime=`, { ...empty, eventType: 'LC_EVENT' })
    assert.equal(await events({}), 0)
    assert.equal((await tenant.rest.call('GET', `/api/ruleNode/${copy.nodes[0]?.id?.id}/debugIn`)).status, 200)
  })

  test('the gallery of images: upload, replace, rename, show, export, import, delete what is used', async () => {
    const image = await upload('POST', '/api/image', { title: 'Logo', imageSubType: 'IMAGE' })
    const path = image.link
    assert.match(path, /^\/api\/images\/tenant\//)
    const table = await tenant.get<PageOf>(
      `/api/images${tablePage('title', { imageSubType: 'IMAGE', includeSystemImages: 'true' })}`,
    )
    assert.ok(table.data.some(({ id }) => id.id === image.id.id))
    for (const sort of ['createdTime', 'title', 'resourceSubType', 'tenantId'])
      assert.equal(
        (
          await tenant.rest.call(
            'GET',
            `/api/images${tablePage(sort, { includeSystemImages: 'false', textSearch: '' })}`,
          )
        ).status,
        200,
        sort,
      )
    const info = await tenant.get<Row>(`${path}/info`)
    const renamed = await tenant.rest.expect<Row>('PUT', `${path}/info`, { ...info, title: 'Renamed' })
    assert.equal(renamed['title'], 'Renamed')
    const replaced = await upload('PUT', path, {}, Buffer.concat([GIF, Buffer.from([0])]))
    assert.notEqual(replaced['etag'], image['etag'])
    const hidden = await tenant.rest.expect<Row>('PUT', `${path}/public/false`)
    assert.equal(hidden['public'], false)
    const exported = await tenant.get<Row>(`${path}/export`)
    const copy = await tenant.rest.expect<Row>('PUT', '/api/image/import', exported)
    assert.notEqual(copy.id.id, image.id.id)
    // A dashboard shows it.
    const configuration = { settings: { dashboardLogoUrl: `tb-image;${path}` }, widgets: {} }
    await tenant.post('/api/dashboard', { title: 'With a logo', configuration })
    const refused = await tenant.rest.call('DELETE', `${path}?force=false`)
    const told = refused.json<{
      success: boolean
      references: Readonly<Record<string, readonly { title?: string; name?: string }[]>>
    }>()
    assert.deepEqual([refused.status, told.success], [400, false], refused.text)
    assert.deepEqual(
      Object.values(told.references)
        .flat()
        .map(({ title, name }) => title ?? name),
      ['With a logo'],
    )
    assert.equal((await tenant.rest.call('DELETE', `${path}?force=true`)).status, 200)
  })

  test('dashboards go to a file with their images, and come back with them', async () => {
    const image = await upload('POST', '/api/image', { title: 'Plan', imageSubType: 'IMAGE' })
    const configuration = {
      ...{ description: '', widgets: { w: { config: { settings: { mapImageUrl: `tb-image;${image.link}` } } } } },
      ...{ states: {}, entityAliases: {}, filters: {}, timewindow: {}, settings: {} },
    }
    const dashboard = await tenant.post<Row>('/api/dashboard', { title: 'To a file', image: null, configuration })
    const path = `/api/dashboard/${dashboard.id.id}`
    assert.equal((await tenant.get<Row>(`${path}?includeResources=false`))['resources'], null)
    interface Exported {
      readonly link: string
      readonly title: string
      readonly type: string
      readonly data: string
    }
    const file = await tenant.get<Row & { readonly resources: readonly Exported[] }>(`${path}?includeResources=true`)
    assert.deepEqual(
      file.resources.map(({ link, title, type, data }) => [link, title, type, data]),
      [[image.link, 'Plan', 'IMAGE', GIF.toString('base64')]],
    )
    await tenant.rest.expect('DELETE', path)
    await tenant.rest.expect('DELETE', `${image.link}?force=true`)
    const {
      id: _id,
      createdTime: _time,
      tenantId: _tenant,
      version: _version,
      assignedCustomers: _customers,
      ...rest
    } = file
    const imported = await tenant.post<Row>('/api/dashboard', rest)
    const link = /tb-image;([^"]+)/.exec(JSON.stringify(imported['configuration']))?.[1] ?? ''
    const shown = await fetch(millrace.url + link, { headers: { 'x-authorization': `Bearer ${tenant.token}` } })
    assert.deepEqual([shown.status, Buffer.from(await shown.arrayBuffer())], [200, GIF])
  })

  test('a dashboard goes to customers by a list, is opened, starred and shown to phones', async () => {
    const dashboard = await tenant.post<Row>('/api/dashboard', { title: 'Shared', mobileHide: false, mobileOrder: 1 })
    const path = `/api/dashboard/${dashboard.id.id}`
    const customers = await tenant.get<PageOf>(`/api/customers${tablePage('title')}`)
    const [first] = customers.data
    const given = await tenant.post<Row & { assignedCustomers: readonly { customerId: Ref }[] }>(`${path}/customers`, [
      first?.id.id,
    ])
    assert.deepEqual(
      given.assignedCustomers.map(({ customerId }) => customerId),
      [first?.id],
    )
    // The editor saves what it read before: who has it stays.
    const saved = await tenant.post<Row>('/api/dashboard', { ...given, title: 'Shared, changed' })
    assert.deepEqual(saved['assignedCustomers'], given.assignedCustomers)
    const mobile = await tenant.get<PageOf>(`/api/tenant/dashboards${tablePage('title', { mobile: 'true' })}`)
    assert.ok(mobile.data.some(({ id }) => id.id === dashboard.id.id))
    await tenant.get(`/api/user/dashboards/${dashboard.id.id}/visit`)
    const { starred } = await tenant.get<{ starred: readonly { id: string }[] }>(
      `/api/user/dashboards/${dashboard.id.id}/star`,
    )
    assert.deepEqual(
      starred.map(({ id }) => id),
      [dashboard.id.id],
    )
    const home = { dashboardId: dashboard.id, hideDashboardToolbar: false }
    await tenant.post('/api/tenant/dashboard/home/info', home)
    assert.deepEqual(await tenant.get('/api/tenant/dashboard/home/info'), home)
    assert.deepEqual(await tenant.get('/api/dashboard/home/info'), home)
    assert.equal((await tenant.get<Row>('/api/dashboard/home'))['hideDashboardToolbar'], false)
    await tenant.post('/api/tenant/dashboard/home/info', { dashboardId: null, hideDashboardToolbar: true })
    assert.equal((await tenant.rest.call('GET', '/api/dashboard/home')).text, '')
  })

  test('the library of widgets: a bundle, its types by id and by name, details and infos, and a file of it', async () => {
    const bundle = await tenant.post<Row>('/api/widgetsBundle', {
      title: 'Library',
      alias: null,
      image: null,
      description: '',
      order: 1,
    })
    const type = await tenant.post<Row>('/api/widgetType', {
      ...{ name: 'Card', fqn: null, image: null, description: '', deprecated: false, scada: false, tags: [] },
      descriptor: {
        type: 'latest',
        sizeX: 3,
        sizeY: 2,
        resources: [],
        templateHtml: '<b></b>',
        controllerScript: '',
        defaultConfig: '{}',
      },
    })
    const id = bundle.id.id
    await tenant.post(`/api/widgetsBundle/${id}/widgetTypes`, [type.id.id])
    assert.deepEqual(await tenant.get(`/api/widgetTypeFqns?widgetsBundleId=${id}`), [type['fqn']])
    const infos = tablePage('createdTime', {
      widgetsBundleId: id,
      fullSearch: 'false',
      deprecatedFilter: 'ACTUAL',
      widgetTypeList: 'latest,rpc',
    })
    const page = await tenant.get<PageOf>(`/api/widgetTypesInfos${infos}`)
    assert.deepEqual(
      page.data.map((info) => [info.id.id, info['widgetType']]),
      [[type.id.id, 'latest']],
    )
    const shown = await tenant.get<Row>(`/api/widgetType?fqn=tenant.${String(type['fqn'])}`)
    assert.deepEqual(shown['descriptor'], type['descriptor'])
    const details = await tenant.get<readonly Row[]>(
      `/api/widgetTypesDetails?widgetsBundleId=${id}&includeResources=true`,
    )
    assert.deepEqual(
      details.map(({ name }) => name),
      ['Card'],
    )
    const bundles = tablePage('title', {
      tenantOnly: 'true',
      fullSearch: 'true',
      scadaFirst: 'false',
      textSearch: 'card',
    })
    assert.deepEqual(
      (await tenant.get<PageOf>(`/api/widgetsBundles${bundles}`)).data.map(({ title }) => title),
      ['Library'],
    )
    const all = tablePage('name', {
      tenantOnly: 'false',
      fullSearch: 'false',
      scadaFirst: 'true',
      deprecatedFilter: 'ALL',
      widgetTypeList: '',
    })
    assert.ok((await tenant.get<PageOf>(`/api/widgetTypes${all}`)).data.some(({ name }) => name === 'Card'))
    // An imported file brings the type again, in the place of the one of its name.
    const { id: _id, createdTime: _time, tenantId: _tenant, version: _version, ...file } = type
    const again = await tenant.post<Row>('/api/widgetType?updateExistingByFqn=true', { ...file, name: 'Card 2' })
    assert.deepEqual([again.id, again['name']], [type.id, 'Card 2'])
    assert.ok(Array.isArray(await sysadmin.get('/api/widgetsBundles')))
  })

  test('the library of files: upload, rename, replace, refuse to delete what is used', async () => {
    const script = Buffer.from('export default 1')
    const file = await upload(
      'POST',
      '/api/resource/upload',
      { title: 'Module', resourceType: 'JS_MODULE', resourceSubType: 'EXTENSION' },
      script,
      'module.js',
    )
    const table = `/api/resource${tablePage('title', { resourceType: 'JS_MODULE', resourceSubType: '' })}`
    assert.deepEqual(
      (await tenant.get<PageOf>(table)).data.map(({ id }) => id.id),
      [file.id.id],
    )
    const path = `/api/resource/${file.id.id}`
    const info = await tenant.get<Row>(`/api/resource/info/${file.id.id}`)
    const renamed = await tenant.rest.expect<Row>('PUT', `${path}/info`, { ...info, title: 'Module, renamed' })
    assert.deepEqual([renamed['title'], renamed['tenantId']], ['Module, renamed', info['tenantId']])
    const replaced = await upload('PUT', `${path}/data`, {}, Buffer.from('export default 2'), 'module.js')
    assert.equal(replaced['title'], 'Module, renamed')
    const read = await tenant.rest.call('GET', `/api/resource/js/${file.id.id}/download`)
    assert.deepEqual([read.status, read.text], [200, 'export default 2'])
    const deleted = await tenant.rest.call('DELETE', `${path}?force=false`)
    assert.deepEqual([deleted.status, deleted.json<{ success: boolean }>().success], [200, true])
    // As older front ends save a file: all in one body.
    const body = {
      title: 'Old',
      resourceType: 'JS_MODULE',
      fileName: 'old.js',
      data: script.toString('base64'),
      resourceKey: null,
    }
    const old = await tenant.post<Row>('/api/resource', body)
    assert.equal((await tenant.post<Row>('/api/resource', { ...old, title: 'Old, renamed' }))['title'], 'Old, renamed')
  })
})
