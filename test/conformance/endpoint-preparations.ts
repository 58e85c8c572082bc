/** What an endpoint needs beside the world of one thing of each kind, to answer 2xx: a state that is made first, or parameters that fit. */
import { randomUUID } from 'node:crypto'
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import { DEMO_LOGINS } from '../../services/seed.ts'
import { startTestMailServer } from '../../services/mail/testkit.ts'
import { startTestCentre } from '../../services/sms/testkit.ts'
import { totpCode, totpSecretOf, totpStep } from '../../services/users/totp.ts'
import type { RestWorld } from '../security/rest-world.ts'
import { CLAIM_SECRET } from '../security/things/claims.ts'

/** Parts of the call that are other than the walk would have them. */
export interface Prepared {
  /** Values of parameters in the path. */
  readonly ids?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: JsonValue
  readonly form?: FormData
}

type Prepare = (world: RestWorld) => Prepared | Promise<Prepared>

const MOBILE = { headers: { 'x-mobile-token': 'secret phone' } }
const TOTP = { providerType: 'TOTP', issuerName: 'Millrace' }
const WIDGETS = { query: { isSystem: 'false', bundleAlias: 'secret_bundle', alias: 'secret_widget' } }
const SECOND_FACTOR = '/api/2fa/account/config'

async function ask(world: RestWorld, method: string, path: string, body?: JsonValue, token = world.tenant) {
  const response = await fetch(`${world.url}${path}`, {
    method,
    headers: { 'x-authorization': `Bearer ${token}`, ...MOBILE.headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text === '' ? {} : parseJson(text)
}

async function call(...of: Parameters<typeof ask>): Promise<JsonObject> {
  const answer = await ask(...of)
  return isJsonObject(answer) ? answer : {}
}

function textOf(object: JsonObject, name: string): string {
  const value = object[name]
  return typeof value === 'string' ? value : ''
}

function idOf(entity: JsonObject): string {
  const { id } = entity
  return isJsonObject(id) ? textOf(id, 'id') : ''
}

/** A new thing in the place of the walk's own, which others hold on to. */
function instead(name: string, path: string, body: JsonObject): Prepare {
  return async (world) => ({ ids: { [name]: idOf(await call(world, 'POST', path, body)) } })
}

function after(method: string, pathOf: (ids: RestWorld['ids']) => string, prepared: Prepared = {}): Prepare {
  return async (world) => {
    await call(world, method, pathOf(world.ids))
    return prepared
  }
}

function query(of: (ids: RestWorld['ids']) => Readonly<Record<string, string | undefined>>): Prepare {
  return ({ ids }) => ({
    query: Object.fromEntries(Object.entries(of(ids)).map(([name, value]) => [name, value ?? ''])),
  })
}

async function withFactors(world: RestWorld): Promise<JsonObject> {
  const providers = [TOTP, { providerType: 'BACKUP_CODE', codesQuantity: 3 }]
  const settings = { providers, minVerificationCodeSendPeriod: 5, totalAllowedTimeForVerification: 60 }
  await call(world, 'POST', '/api/2fa/settings', settings, world.systemAdministrator)
  return call(world, 'POST', `${SECOND_FACTOR}/generate?providerType=TOTP`)
}

function codeOf(world: RestWorld, factor: JsonObject): string {
  return totpCode(totpSecretOf(textOf(factor, 'authUrl')) ?? '', totpStep(world.platform.clock.now()))
}

async function withOwnFactor(world: RestWorld): Promise<Prepared> {
  const factor = await withFactors(world)
  await call(world, 'POST', `${SECOND_FACTOR}?verificationCode=${codeOf(world, factor)}`, factor)
  return { query: { providerType: 'TOTP' }, body: { useByDefault: true } }
}

async function withEmptyPackage(world: RestWorld): Promise<Prepared> {
  const { deviceProfileId = '' } = world.ids
  const draft = {
    deviceProfileId: { entityType: 'DEVICE_PROFILE', id: deviceProfileId },
    type: 'FIRMWARE',
    title: 'another',
    version: '1',
  }
  const form = new FormData()
  form.set('file', new Blob(['bytes']), 'another.bin')
  return {
    ids: { otaPackageId: idOf(await call(world, 'POST', '/api/otaPackage', draft)) },
    query: { checksumAlgorithm: 'MD5' },
    form,
  }
}

/** By method and path, with the parameters that it is told apart by. */
/** With a failed task. */
async function endedJob({ platform }: RestWorld): Promise<Prepared> {
  const { services, tenant, tenantId } = platform
  const job = await services.jobs.submitByUser(tenant, {
    type: 'DUMMY',
    key: randomUUID(),
    entityName: null,
    entityId: { entityType: 'TENANT', id: tenantId },
    configuration: { failedTasksCount: 1 },
  })
  while (await services.jobs.look());
  return { ids: { jobId: job.id } }
}

export const PREPARATIONS: ReadonlyMap<string, Prepare> = new Map<string, Prepare>([
  ['DELETE /api/job/{id}', endedJob],
  ['POST /api/job/{id}/reprocess', endedJob],
  ['POST /api/customer/device/{deviceName}/claim', () => ({ body: { secretKey: CLAIM_SECRET } })],
  ['DELETE /api/2fa/account/config', withOwnFactor],
  ['PUT /api/2fa/account/config', withOwnFactor],
  [
    'POST /api/2fa/account/config',
    async (world) => {
      const body = await withFactors(world)
      return { body, query: { verificationCode: codeOf(world, body) } }
    },
  ],
  [
    'POST /api/2fa/account/config/generate',
    async (world) => {
      await withFactors(world)
      return { query: { providerType: 'TOTP' } }
    },
  ],
  ['POST /api/2fa/account/config/submit', async (world) => ({ body: await withFactors(world) })],
  [
    'POST /api/admin/settings/testMail',
    async () => {
      const { port } = await startTestMailServer()
      return { body: { key: 'mail', jsonValue: { mailFrom: 'a@example.org', smtpHost: '127.0.0.1', smtpPort: port } } }
    },
  ],
  [
    'POST /api/admin/settings/testSms',
    async () => {
      const { port } = await startTestCentre()
      const account = { protocolVersion: '3.4', systemId: 'me', password: 'secret' }
      const providerConfiguration = { type: 'SMPP', host: '127.0.0.1', port, ...account }
      return { body: { providerConfiguration, numberTo: '+15005550009', message: 'Test message' } }
    },
  ],
  [
    'DELETE /api/alarm/{alarmId}/assign',
    after('POST', ({ alarmId, assigneeId }) => `/api/alarm/${alarmId}/assign/${assigneeId}`),
  ],
  ['DELETE /api/asset/{assetId}', instead('assetId', '/api/asset', { name: 'another' })],
  ['DELETE /api/assetProfile/{assetProfileId}', instead('assetProfileId', '/api/assetProfile', { name: 'another' })],
  [
    'DELETE /api/deviceProfile/{deviceProfileId}',
    instead('deviceProfileId', '/api/deviceProfile', {
      name: 'another',
      type: 'DEFAULT',
      transportType: 'DEFAULT',
      profileData: { configuration: { type: 'DEFAULT' }, transportConfiguration: { type: 'DEFAULT' } },
    }),
  ],
  [
    'DELETE /api/customer/asset/{assetId}',
    after('POST', ({ customerId, assetId }) => `/api/customer/${customerId}/asset/${assetId}`),
  ],
  [
    'DELETE /api/customer/device/{deviceId}',
    after('POST', ({ customerId, deviceId }) => `/api/customer/${customerId}/device/${deviceId}`),
  ],
  [
    'DELETE /api/customer/entityView/{entityViewId}',
    after('POST', ({ customerId, entityViewId }) => `/api/customer/${customerId}/entityView/${entityViewId}`),
  ],
  [
    'DELETE /api/plugins/telemetry/{entityType}/{entityId}/timeseries/delete',
    () => ({ query: { keys: 'secret', deleteAllDataForKeys: 'true' } }),
  ],
  ['DELETE /api/user/mobile/session', () => MOBILE],
  ['GET /api/user/mobile/session', () => MOBILE],
  ['POST /api/user/mobile/session', () => MOBILE],
  [
    'GET /api/admin/mail/oauth2/authorize',
    async (world) => {
      const provider = 'https://provider.example.org'
      const jsonValue = {
        ...{ mailFrom: 'a@example.org', smtpHost: 'localhost', smtpPort: 25, enableOauth2: true },
        ...{ clientId: 'client', clientSecret: 'secret', scope: ['mail'] },
        ...{ authUri: `${provider}/authorize`, tokenUri: `${provider}/token`, redirectUri: `${world.url}/code` },
      }
      await call(world, 'POST', '/api/admin/settings', { key: 'mail', jsonValue }, world.systemAdministrator)
      return {}
    },
  ],
  ['GET /api/calculatedFields/names', () => ({ query: { type: 'SIMPLE' } })],
  [
    'GET /api/component/{componentDescriptorClazz}',
    async (world) => {
      const all = await ask(world, 'GET', '/api/components?componentTypes=FILTER,ACTION,TRANSFORMATION,ENRICHMENT,FLOW')
      const [first = {}] = Array.isArray(all) ? all : []
      return { ids: { componentDescriptorClazz: isJsonObject(first) ? textOf(first, 'clazz') : '' } }
    },
  ],
  ['GET /api/notification/targets/list', query(({ notificationTargetId: ids }) => ({ ids }))],
  ['GET /api/notification/targets?ids', query(({ notificationTargetId: ids }) => ({ ids }))],
  ['GET /api/tenantProfiles/list', query(({ tenantProfileId: ids }) => ({ ids }))],
  ['GET /api/tenantProfiles?ids', query(({ tenantProfileId: ids }) => ({ ids }))],
  ['GET /api/oauth2/client/infos?clientIds', query(({ tenantId: clientIds }) => ({ clientIds }))],
  ['GET /api/oauth2/client/list', query(({ tenantId: clientIds }) => ({ clientIds }))],
  ['GET /api/tenant/{tenantId}/rows', () => ({ query: { table: 'customer' } })],
  ['GET /api/otaPackages/{deviceProfileId}/{type}', () => ({ ids: { type: 'FIRMWARE' } })],
  ['GET /api/widgetType?fqn', () => ({ query: { fqn: 'tenant.secret_widget' } })],
  [
    'GET /api/widgetType?isSystem&bundleAlias&alias',
    async (world) => {
      const fqn = `${WIDGETS.query.bundleAlias}.${WIDGETS.query.alias}`
      await call(world, 'POST', '/api/widgetType', { name: 'another', fqn, descriptor: { type: 'latest' } })
      return WIDGETS
    },
  ],
  ['GET /api/widgetTypes?isSystem&bundleAlias', () => WIDGETS],
  ['GET /api/widgetTypesDetails?isSystem&bundleAlias', () => WIDGETS],
  ['GET /api/widgetTypesInfos?isSystem&bundleAlias', () => WIDGETS],
  ['POST /api/widgetsBundle/{widgetsBundleId}/widgetTypeFqns', () => ({ body: ['tenant.secret_widget'] })],
  ['POST /api/widgetType', () => ({ body: { name: 'another', fqn: 'another', descriptor: { type: 'latest' } } })],
  [
    'POST /api/otaPackage',
    ({ ids: { deviceProfileId = '' } }) => ({
      body: {
        deviceProfileId: { entityType: 'DEVICE_PROFILE', id: deviceProfileId },
        type: 'FIRMWARE',
        title: 'another',
        version: '1',
      },
    }),
  ],
  ['POST /api/otaPackage/{otaPackageId}', withEmptyPackage],
  [
    'POST /api/auth/changePassword',
    () => ({ body: { currentPassword: DEMO_LOGINS.tenantAdministrator.password, newPassword: 'another secret' } }),
  ],
  ['POST /api/user/sendActivationMail', () => ({ query: { email: 'secret.user@example.org' } })],
  [
    'POST /api/user/{userId}/userCredentialsEnabled',
    async (world) => ({ ids: { userId: idOf(await call(world, 'GET', '/api/auth/user', undefined, world.customer)) } }),
  ],
  ['PUT /api/apiKey/{id}/enabled/{enabledValue}', () => ({ ids: { enabledValue: 'true' } })],
])
