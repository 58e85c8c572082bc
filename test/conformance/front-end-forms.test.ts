/**
 * What forms of front ends send back: all that a call gave, names of lists among it, with one member changed. It is taken, changes that one
 * member, and counts as one change. Source: `rest-api.md` 3.3.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DEMO_SYSADMIN, DEMO_TENANT, login } from '../support/clients.ts'
import { FrontEnd, type Row } from '../support/front-end.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

interface Form {
  /** Where it is read and saved; `info` where front ends read it with names beside it. */
  readonly path: string
  readonly info?: string
  readonly made: object
  /** What the form changes. */
  readonly change: Readonly<Record<string, unknown>>
  readonly isSystems?: boolean
}

const RULES = {
  configuration: { type: 'DEFAULT' },
  transportConfiguration: { type: 'DEFAULT' },
  provisionConfiguration: { type: 'DISABLED', provisionDeviceSecret: null },
  alarms: [
    {
      id: 'f3d4a1c8-2f0b-4a53-9f7e-0a1b2c3d4e5f',
      alarmType: 'High temperature',
      createRules: {
        CRITICAL: {
          schedule: null,
          condition: {
            condition: [
              {
                key: { type: 'TIME_SERIES', key: 'temperature' },
                valueType: 'NUMERIC',
                value: null,
                predicate: {
                  type: 'NUMERIC',
                  operation: 'GREATER',
                  value: {
                    defaultValue: 30,
                    userValue: null,
                    dynamicValue: { sourceType: null, sourceAttribute: null, inherit: false },
                  },
                },
              },
            ],
            spec: {
              type: 'DURATION',
              unit: 'SECONDS',
              predicate: { defaultValue: 5, userValue: null, dynamicValue: null },
            },
          },
          alarmDetails: null,
          dashboardId: null,
        },
      },
      clearRule: null,
      propagate: false,
      propagateToOwner: false,
      propagateToTenant: false,
      propagateRelationTypes: null,
    },
  ],
}
const CONTACT = {
  country: null,
  state: null,
  city: null,
  address: null,
  address2: null,
  zip: null,
  phone: null,
  email: null,
}
const DESCRIBED = { additionalInfo: { description: 'as the form has it' } }

describe('forms of front ends', () => {
  let millrace: RunningMillrace
  let tenant: FrontEnd
  let sysadmin: FrontEnd

  before(async () => {
    millrace = await startMillrace()
    tenant = new FrontEnd(millrace, await login(millrace, DEMO_TENANT))
    sysadmin = new FrontEnd(millrace, await login(millrace, DEMO_SYSADMIN))
  })
  after(() => millrace.stop())

  const idOf = async (path: string, body: object) => (await tenant.post<Row>(path, body)).id

  async function forms(): Promise<readonly Form[]> {
    const assetId = await idOf('/api/asset', { name: 'Source of the view', type: 'default' })
    const { id: fieldOf } = await tenant.post<Row>('/api/device', { name: 'Computed', type: 'default' })
    return [
      {
        path: '/api/device',
        info: '/api/device/info',
        made: {
          ...{ name: 'Form device', type: 'default', label: '', customerId: null, deviceProfileId: null },
          additionalInfo: { gateway: false, overwriteActivityTime: false, description: '' },
          ...{ firmwareId: null, softwareId: null, deviceData: null },
        },
        change: { label: 'changed' },
      },
      {
        path: '/api/asset',
        info: '/api/asset/info',
        made: { name: 'Form asset', type: 'default', label: null, customerId: null, additionalInfo: null },
        change: DESCRIBED,
      },
      {
        path: '/api/entityView',
        info: '/api/entityView/info',
        made: {
          ...{ name: 'Form view', type: 'default', entityId: assetId, startTimeMs: null, endTimeMs: null },
          keys: { attributes: { cs: [], ss: [], sh: [] }, timeseries: [] },
        },
        change: { keys: { attributes: { cs: [], ss: ['floor'], sh: [] }, timeseries: ['t'] } },
      },
      {
        path: '/api/deviceProfile',
        made: {
          ...{
            name: 'Form profile',
            type: 'DEFAULT',
            image: null,
            transportType: 'DEFAULT',
            provisionType: 'DISABLED',
          },
          ...{ provisionDeviceKey: null, description: '', defaultRuleChainId: null, defaultDashboardId: null },
          ...{ defaultEdgeRuleChainId: null, defaultQueueName: '', firmwareId: null, softwareId: null },
          profileData: RULES,
        },
        change: { description: 'changed' },
      },
      {
        path: '/api/assetProfile',
        made: { name: 'Form asset profile', image: null, defaultRuleChainId: null, defaultQueueName: null },
        change: { description: 'changed' },
      },
      {
        path: '/api/customer',
        made: { ...CONTACT, title: 'Form customer', additionalInfo: {} },
        change: { city: 'Kyiv' },
      },
      {
        path: '/api/user',
        made: {
          ...{ email: 'form@example.org', authority: 'TENANT_ADMIN', firstName: null, lastName: null, phone: null },
          ...{ customerId: null, additionalInfo: { description: '', defaultDashboardId: null } },
        },
        change: { firstName: 'Form' },
      },
      {
        path: '/api/dashboard',
        info: '/api/dashboard',
        made: { title: 'Form dashboard', image: null, mobileHide: null, mobileOrder: null, configuration: null },
        change: { configuration: { description: 'changed', widgets: {}, states: {}, entityAliases: {}, filters: {} } },
      },
      {
        path: '/api/ruleChain',
        made: {
          ...{ name: 'Form chain', type: 'CORE', debugMode: false, root: false, firstRuleNodeId: null },
          additionalInfo: { description: '' },
        },
        change: DESCRIBED,
      },
      {
        path: '/api/widgetsBundle',
        made: { title: 'Form bundle', image: null, description: null, order: null, scada: false },
        change: { description: 'changed', order: 5 },
      },
      {
        path: '/api/widgetType',
        made: {
          ...{ name: 'Form widget', image: null, description: null, deprecated: false, scada: false, tags: null },
          descriptor: { type: 'latest', sizeX: 3, sizeY: 2, resources: [], templateHtml: '', controllerScript: '' },
        },
        change: { tags: ['one', 'two'], description: 'changed' },
      },
      {
        path: '/api/calculatedField',
        made: {
          ...{ type: 'SIMPLE', name: 'Form field', entityId: fieldOf, debugSettings: null, configurationVersion: 1 },
          configuration: {
            type: 'SIMPLE',
            arguments: {
              t: { refEntityId: null, refEntityKey: { key: 't', type: 'TS_LATEST', scope: null }, defaultValue: '' },
            },
            expression: 't * 2',
            output: { name: 'doubled', type: 'TIME_SERIES', scope: null, decimalsByDefault: null },
          },
        },
        change: { name: 'Form field, changed' },
      },
      {
        path: '/api/notification/target',
        made: {
          name: 'Form target',
          configuration: { type: 'PLATFORM_USERS', usersFilter: { type: 'ALL_USERS' }, description: '' },
        },
        change: { name: 'Form target, changed' },
      },
      {
        path: '/api/notification/template',
        made: {
          ...{ name: 'Form template', notificationType: 'GENERAL' },
          configuration: {
            deliveryMethodsTemplates: {
              WEB: {
                ...{ method: 'WEB', enabled: true, subject: 'Subject', body: 'Body' },
                additionalConfig: { icon: { enabled: false }, actionButtonConfig: { enabled: false } },
              },
            },
          },
        },
        change: { name: 'Form template, changed' },
      },
      {
        path: '/api/tenant',
        info: '/api/tenant/info',
        isSystems: true,
        made: { ...CONTACT, title: 'Form tenant', tenantProfileId: null, additionalInfo: { description: '' } },
        change: { zip: '01001' },
      },
      {
        path: '/api/tenantProfile',
        isSystems: true,
        made: { name: 'Form tenant profile', description: '', isolatedTbRuleEngine: false, profileData: null },
        change: { description: 'changed' },
      },
    ]
  }

  test('are taken as they were read, with what they changed and nothing else', async () => {
    for (const { path, info = path, made, change, isSystems } of await forms()) {
      const { rest } = isSystems === true ? sysadmin : tenant
      const saved = await rest.call('POST', path.replace(/user$/, 'user?sendActivationMail=false'), made)
      assert.equal(saved.status, 200, `${path} made: ${saved.text}`)
      const { id } = saved.json<Row>()
      const read = await rest.expect<Row>('GET', `${info}/${id.id}`)
      const unknown = { memberOfALaterVersion: { any: ['thing'] } }
      const sent = await rest.call('POST', path, { ...read, ...change, ...unknown })
      assert.equal(sent.status, 200, `${path} changed: ${sent.text}`)
      const after = await rest.expect<Row>('GET', `${info}/${id.id}`)
      const { version, ...members } = { ...read, ...change }
      const { version: newVersion, ...changed } = after
      assert.deepEqual(changed, members, path)
      if (version === undefined) continue
      assert.equal(newVersion, version + 1, path)
      // In a second tab it is still open as it was.
      const late = await rest.call('POST', path, { ...read, ...change })
      assert.deepEqual([late.status, late.json<{ errorCode: number }>().errorCode], [409, 35], `${path}: ${late.text}`)
      assert.deepEqual(await rest.expect<Row>('GET', `${info}/${id.id}`), after, path)
    }
  })
})
