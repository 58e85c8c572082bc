/** A tenant with things of every kind, hundreds of the most, made over REST as people make it. */
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { DEMO_SYSADMIN, login, RestClient } from '../support/clients.ts'
import type { RunningMillrace } from '../support/start-millrace.ts'

const COUNTS = {
  devices: 300,
  assets: 100,
  chains: 40,
  dashboards: 40,
  views: 20,
  alarms: 30,
  fields: 20,
  points: 2_000,
}
const AT_ONCE = 32
const POINTS_AT_ONCE = 1_000
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
/** The series of what the rule engine heard. */
export const TOLD = 'told'
const NODE = 'org.thingsboard.rule.engine.'

export interface LargeTenant {
  readonly id: string
  readonly title: string
}

interface Saved {
  readonly id: { readonly entityType: string; readonly id: string }
}
type Save = (path: string, body: JsonValue) => Promise<Saved>

/** As its administrator, whoever that is. */
export async function administratorOf(millrace: RunningMillrace, tenantId: string): Promise<RestClient> {
  const system = new RestClient(millrace, await login(millrace, DEMO_SYSADMIN))
  const path = `/api/tenant/${tenantId}/users?pageSize=1&page=0`
  const { data } = await system.expect<{ data: readonly Saved[] }>('GET', path)
  const { token } = await system.expect<{ token: string }>('GET', `/api/user/${data[0]?.id.id ?? ''}/token`)
  return new RestClient(millrace, token)
}

export async function makeTenant(millrace: RunningMillrace, title: string, email: string): Promise<LargeTenant> {
  const system = new RestClient(millrace, await login(millrace, DEMO_SYSADMIN))
  const { id: tenantId } = await system.expect<Saved>('POST', '/api/tenant', { title })
  const user = { email, authority: 'TENANT_ADMIN', tenantId }
  await system.expect('POST', '/api/user?sendActivationMail=false', user)
  return { id: tenantId.id, title }
}

export async function makeLargeTenant(millrace: RunningMillrace): Promise<LargeTenant> {
  const tenant = await makeTenant(millrace, 'Large', 'admin@large.example.org')
  const rest = await administratorOf(millrace, tenant.id)
  const save: Save = (path, body) => rest.expect<Saved>('POST', path, body)
  const devices = await imported(rest, 'device', COUNTS.devices)
  const assets = await imported(rest, 'asset', COUNTS.assets)
  const deviceOf = (n: number): Saved['id'] => at(devices, n)
  const assetOf = (n: number): Saved['id'] => at(assets, n)
  const relate = (from: Saved['id'], to: Saved['id']) =>
    save('/api/relation', { from, to, type: 'Contains', typeGroup: 'COMMON' })
  await many(COUNTS.devices, (n) => relate(assetOf(n), deviceOf(n)))
  await many(COUNTS.assets - 1, (n) => relate(assetOf(n), assetOf(n + 1)))
  await many(COUNTS.dashboards, (n) =>
    save('/api/dashboard', {
      title: `dashboard ${n}`,
      configuration: { widgets: { w: { deviceId: deviceOf(n).id } } },
    }),
  )
  await many(COUNTS.views, (n) =>
    save('/api/entityView', {
      ...{ name: `view ${n}`, type: 'meter', entityId: assetOf(n), startTimeMs: 0, endTimeMs: 0 },
      keys: { timeseries: ['temperature'], attributes: { cs: [], ss: ['floor'], sh: [] } },
    }),
  )
  await many(COUNTS.alarms, async (n) => {
    const { id } = await save('/api/alarm', { originator: deviceOf(n), type: 'too hot', severity: 'MAJOR' })
    await save(`/api/alarm/${id.id}/comment`, { comment: { text: `words ${n}` } })
  })
  await many(COUNTS.fields, (n) => save('/api/calculatedField', calculatedField(assetOf(n), n)))
  await many(COUNTS.chains, (n) => makeChain(save, n))
  await people(save, deviceOf)
  await content(rest, save)
  await many(2, (n) => series(rest, deviceOf(n)))
  await watchEverything(rest)
  return tenant
}

/** One after the other would take minutes, all at once would be refused. */
async function many(count: number, make: (n: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, index) => make(from + index)))
}

function at<Item>(items: readonly Item[], n: number): Item {
  const item = items[n % items.length]
  if (item === undefined) throw new Error('there are none')
  return item
}

async function imported(rest: RestClient, kind: 'device' | 'asset', count: number): Promise<readonly Saved['id'][]> {
  const lines = Array.from({ length: count }, (_, n) => `${kind} ${n},default,Label ${n},floor ${n},${n}.5`)
  const mapping = {
    ...{ delimiter: ',', header: false, update: true },
    columns: [
      ...[{ type: 'NAME' }, { type: 'TYPE' }, { type: 'LABEL' }],
      ...[
        { type: 'SERVER_ATTRIBUTE', key: 'floor' },
        { type: 'TIMESERIES', key: 'temperature' },
      ],
    ],
  }
  await rest.expect('POST', `/api/${kind}/bulk_import`, { file: lines.join('\n'), mapping })
  const path = `/api/tenant/${kind}s?pageSize=${count}&page=0&textSearch=${kind}`
  const { data } = await rest.expect<{ data: readonly Saved[] }>('GET', path)
  if (data.length !== count) throw new Error(`${data.length} of ${count} were imported`)
  return data.map(({ id }) => id)
}

function calculatedField(entityId: Saved['id'], n: number): JsonValue {
  return {
    ...{ entityId: { ...entityId }, type: 'SIMPLE', name: `field ${n}` },
    configuration: {
      type: 'SIMPLE',
      arguments: { t: { refEntityKey: { key: 'temperature', type: 'TS_LATEST' } } },
      expression: 't * 1.8 + 32',
      output: { type: 'TIME_SERIES', name: 'fahrenheit', decimalsByDefault: 1 },
    },
  }
}

async function makeChain(save: Save, n: number): Promise<void> {
  const { id } = await save('/api/ruleChain', { name: `chain ${n}` })
  const node = (place: number) => ({
    ...{ type: `${NODE}filter.TbMsgTypeSwitchNode`, name: `node ${place}`, configuration: { version: 0 } },
    additionalInfo: { layoutX: place, layoutY: n },
  })
  await save('/api/ruleChain/metadata', {
    ...{ ruleChainId: { ...id }, firstNodeIndex: 0, nodes: [0, 1, 2, 3].map(node) },
    connections: [1, 2, 3].map((toIndex) => ({ fromIndex: toIndex - 1, toIndex, type: 'Other' })),
  })
}

async function people(save: Save, deviceOf: (n: number) => Saved['id']): Promise<void> {
  for (let n = 0; n < 10; n++) {
    const { id: customerId } = await save('/api/customer', { title: `customer ${n}` })
    const email = `user${n}@large.example.org`
    const user = { email, authority: 'CUSTOMER_USER', customerId: { ...customerId } }
    const { id: userId } = await save('/api/user?sendActivationMail=false', user)
    await save(`/api/customer/${customerId.id}/device/${deviceOf(n).id}`, {})
    if (n === 0) await save('/api/apiKey', { userId: { ...userId }, description: 'nightly report', enabled: true })
  }
}

async function content(rest: RestClient, save: Save): Promise<void> {
  const types = []
  for (let n = 0; n < 5; n++)
    types.push(
      await save('/api/widgetType', { name: `widget ${n}`, fqn: `widget_${n}`, descriptor: { type: 'latest' } }),
    )
  const bundle = await save('/api/widgetsBundle', { title: 'bundle' })
  await save(
    `/api/widgetsBundle/${bundle.id.id}/widgetTypes`,
    types.map(({ id }) => id.id),
  )
  const { id } = await save('/api/otaPackage', { type: 'FIRMWARE', title: 'firmware', version: '1' })
  await rest.upload(`/api/otaPackage/${id.id}?checksumAlgorithm=SHA256`, Buffer.alloc(1 << 20, 'firmware'))
  await rest.upload('/api/image', PIXEL)
  const data = Buffer.from('export const hours = 24').toString('base64')
  await save('/api/resource', { title: 'hours', resourceType: 'JS_MODULE', fileName: 'hours.js', data })
  const target = await save('/api/notification/target', {
    ...{ name: 'everybody', configuration: { type: 'PLATFORM_USERS', usersFilter: { type: 'ALL_USERS' } } },
  })
  const web = { method: 'WEB', enabled: true, subject: 'Hi', body: 'Text' }
  const template = await save('/api/notification/template', {
    ...{ name: 'hello', notificationType: 'GENERAL', configuration: { deliveryMethodsTemplates: { WEB: web } } },
  })
  const trigger = { triggerType: 'ENTITY_ACTION' }
  await save('/api/notification/rule', {
    ...{ name: 'edges', templateId: { ...template.id }, ...trigger },
    triggerConfig: { ...trigger, entityTypes: ['EDGE'], created: true },
    recipientsConfig: { ...trigger, targets: [target.id.id] },
  })
}

async function series(rest: RestClient, { id }: Saved['id']): Promise<void> {
  for (let from = 0; from < COUNTS.points; from += POINTS_AT_ONCE) {
    const body = Array.from({ length: POINTS_AT_ONCE }, (_, index) => {
      const n = from + index
      return {
        ts: 1_700_000_000_000 + n * 1000,
        values: { count: n, text: `value ${n}`, half: n / 2, on: n % 2 === 0 },
      }
    })
    await rest.expect('POST', `/api/plugins/telemetry/DEVICE/${id}/timeseries/ANY`, body)
  }
}

/** Each message that the rule engine hears leaves a point of the series `told` at its entity: its type. So an import that tells of itself shows. */
export async function watchEverything(rest: RestClient): Promise<void> {
  const { data } = await rest.expect<{ data: readonly (Saved & { root: boolean })[] }>(
    'GET',
    '/api/ruleChains?pageSize=1000&page=0&type=CORE',
  )
  const root = data.find((chain) => chain.root)
  const metadata = await rest.expect<{
    readonly firstNodeIndex: number
    readonly nodes: readonly JsonObject[]
    readonly connections: readonly JsonObject[]
  }>('GET', `/api/ruleChain/${root?.id.id ?? ''}/metadata`)
  const script = `return {msg: {${TOLD}: msgType}, metadata: metadata, msgType: 'POST_TELEMETRY_REQUEST'};`
  const naming = { scriptLang: 'TBEL', tbelScript: script, jsScript: script }
  const configuration = { defaultTTL: 0, useServerTs: false, processingSettings: { type: 'ON_EVERY_MESSAGE' } }
  const first = metadata.nodes.length
  await rest.expect('POST', '/api/ruleChain/metadata', {
    ...metadata,
    nodes: [
      ...metadata.nodes,
      { type: `${NODE}transform.TbTransformMsgNode`, name: 'name it', configuration: naming },
      { type: `${NODE}telemetry.TbMsgTimeseriesNode`, name: 'keep it', configurationVersion: 1, configuration },
    ],
    connections: [
      ...metadata.connections,
      ...WATCHED.map((label) => ({ fromIndex: metadata.firstNodeIndex, toIndex: first, type: label })),
      { fromIndex: first, toIndex: first + 1, type: 'Success' },
    ],
  })
}

const WATCHED = [
  ...['Entity Created', 'Entity Updated', 'Entity Deleted', 'Entity Assigned', 'Attributes Updated'],
  ...['Timeseries Updated', 'Relation Added or Updated', 'Relation Deleted', 'Alarm'],
]
