/** What devices present when they connect; the id of credentials is unique over all tenants. */
import { sql, type CompiledQuery, type Selectable } from 'kysely'
import type { CredentialsType, DeviceCredentials } from '../../model/entities.ts'
import { lruMap } from '../../model/lru-map.ts'
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import { statementOf, withParameters, type EntityDatabase, type Statement } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import { queueNameOf } from './queues.ts'
import type { DeviceCredentialsTable } from './schema.ts'

/** What a session needs to know of a device, in one read. */
export interface KnownDevice {
  readonly deviceId: string
  readonly tenantId: string
  readonly customerId: string | null
  readonly deviceName: string
  readonly deviceLabel: string | null
  readonly deviceType: string
  readonly deviceProfileId: string
  readonly transportType: string
  readonly ruleChainId: string | null
  /** The profile's queue as the link calls it; null means `Main`. */
  readonly queueName: string | null
  /** Set where others may connect through it. */
  readonly isGateway?: true
  /** Set where what it does counts as done by all devices behind it. */
  readonly overwritesActivityTime?: true
  /** Of one that speaks LwM2M: what its own `transportConfiguration` says of its power saving, where it does. */
  readonly ownLwm2m?: JsonObject
}

type KnownDeviceRow = Omit<KnownDevice, 'queueName' | 'isGateway' | 'overwritesActivityTime' | 'ownLwm2m'> & {
  readonly credentialsId: string
  readonly deviceData: string | null
  readonly additionalInfo: string | null
  readonly defaultQueueName: string | null
  /** Set where the queue of that name is the tenant's own. */
  readonly ownQueueId: string | null
}

export interface Claimant {
  readonly device: KnownDevice
  readonly credentialsType: CredentialsType
  readonly credentialsValue: string | null
}

/** In characters. Hundreds of devices are read at once: what one says of itself at greater length is passed over. */
const LONGEST = sql.lit(65_536)
/** Ids of tenants and profiles, and names of profiles. */
const SHARED_TEXTS = 10_000

export class DeviceCredentialsRepository {
  private readonly database: EntityDatabase
  private insertion: string | undefined
  private readonly texts = lruMap<string>(SHARED_TEXTS)
  /** By credentials, built once: asked for every device that connects alone. */
  private readonly byOne: CompiledQuery<KnownDeviceRow>
  /** By the device's id: asked for every device of which an event is told. */
  private readonly byId: CompiledQuery<KnownDeviceRow>

  constructor(database: EntityDatabase) {
    this.database = database
    this.byOne = knownDevices(database, 'ACCESS_TOKEN', ['']).compile()
    this.byId = selectKnown(database).where('device.id', '=', '').compile()
  }

  async findByDevice(deviceId: string): Promise<DeviceCredentials | undefined> {
    const row = await this.database.builder
      .selectFrom('device_credentials')
      .selectAll()
      .where('device_id', '=', deviceId)
      .executeTakeFirst()
    return row && credentialsOf(row)
  }

  /** By the ids of their credentials, in one read; who is not in the answer has none. */
  async findDevices(type: CredentialsType, ids: readonly string[]): Promise<ReadonlyMap<string, KnownDevice>> {
    const [only = ''] = ids
    const isOne = ids.length === 1
    const query = isOne ? withParameters(this.byOne, [only, type]) : knownDevices(this.database, type, ids).compile()
    const { rows } = await this.database.read(query)
    return new Map(rows.map((row) => [row.credentialsId, this.knownDeviceOf(row)]))
  }

  /** Whatever the type of their credentials: with it, and the value. */
  async findClaimants(ids: readonly string[]): Promise<ReadonlyMap<string, Claimant>> {
    const { rows } = await this.database.read(
      selectKnown(this.database)
        .select([
          'device_credentials.credentials_type as credentialsType',
          'device_credentials.credentials_value as credentialsValue',
        ])
        .where('device_credentials.credentials_id', 'in', ids)
        .compile(),
    )
    return new Map(
      rows.map(({ credentialsType, credentialsValue, ...row }) => {
        const type = credentialsType as CredentialsType
        return [row.credentialsId, { device: this.knownDeviceOf(row), credentialsType: type, credentialsValue }]
      }),
    )
  }

  async findDeviceById(deviceId: string): Promise<KnownDevice | undefined> {
    const { rows } = await this.database.read(withParameters(this.byId, [deviceId]))
    return rows[0] && this.knownDeviceOf(rows[0])
  }

  /** Devices of a tenant by name, in one read. */
  async findDevicesByName(tenantId: string, names: readonly string[]): Promise<ReadonlyMap<string, KnownDevice>> {
    const query = selectKnown(this.database).where('device.tenant_id', '=', tenantId).where('device.name', 'in', names)
    const { rows } = await this.database.read(query.compile())
    return new Map(rows.map((row) => [row.deviceName, this.knownDeviceOf(row)]))
  }

  insert(credentials: DeviceCredentials): readonly Statement[] {
    const row = rowOf(credentials)
    this.insertion ??= this.database.builder.insertInto('device_credentials').values(row).compile().sql
    return [{ sql: this.insertion, parameters: Object.values(row), ...ID_UNIQUE }]
  }

  /** Replaces the version before this one. Throws `VERSION_CONFLICT` where another change came between. */
  update(credentials: DeviceCredentials): readonly Statement[] {
    const query = this.database.builder
      .updateTable('device_credentials')
      .set(rowOf(credentials))
      .where('id', '=', credentials.id)
      .where('version', '=', credentials.version - 1)
    const otherwise = () => EntityStoreErrors.VERSION_CONFLICT({ entity: 'Device credentials' })
    return [statementOf(query, { ...ID_UNIQUE, expect: { changes: 1, otherwise } })]
  }

  private knownDeviceOf(row: KnownDeviceRow): KnownDevice {
    const { defaultQueueName, ownQueueId, credentialsId: _, additionalInfo, deviceData, ...device } = row
    const queueName = defaultQueueName && queueNameOf(device.tenantId, defaultQueueName, ownQueueId)
    return {
      ...device,
      tenantId: this.shared(device.tenantId),
      deviceProfileId: this.shared(device.deviceProfileId),
      deviceType: this.shared(device.deviceType),
      queueName: queueName === '' ? null : queueName,
      ...gatewayMembers(additionalInfo),
      ...lwm2mMembers(deviceData),
    }
  }

  /** Identities of devices that are connected are kept: what many of them have is one text. */
  private shared(text: string): string {
    const known = this.texts.get(text)
    if (known === undefined) this.texts.set(text, text)
    return known ?? text
  }
}

function knownDevices(database: EntityDatabase, type: CredentialsType, ids: readonly string[]) {
  return selectKnown(database)
    .where('device_credentials.credentials_id', 'in', ids)
    .where('device_credentials.credentials_type', '=', type)
}

function selectKnown(database: EntityDatabase) {
  return database.builder
    .selectFrom('device_credentials')
    .innerJoin('device', 'device.id', 'device_credentials.device_id')
    .innerJoin('device_profile', 'device_profile.id', 'device.device_profile_id')
    .leftJoin('queue', (join) =>
      join
        .onRef('queue.tenant_id', '=', 'device_profile.tenant_id')
        .onRef('queue.name', '=', 'device_profile.default_queue_name'),
    )
    .select([
      'device_credentials.credentials_id as credentialsId',
      'device.id as deviceId',
      'device.tenant_id as tenantId',
      'device.customer_id as customerId',
      'device.name as deviceName',
      'device.label as deviceLabel',
      sql<string | null>`case when length(device.additional_info) <= ${LONGEST} then device.additional_info end`.as(
        'additionalInfo',
      ),
      sql<string | null>`case when device_profile.transport_type = 'LWM2M' and length(device.device_data) <= ${LONGEST}
        then device.device_data end`.as('deviceData'),
      'device_profile.name as deviceType',
      'device_profile.id as deviceProfileId',
      'device_profile.transport_type as transportType',
      'device_profile.default_rule_chain_id as ruleChainId',
      'device_profile.default_queue_name as defaultQueueName',
      'queue.id as ownQueueId',
    ])
}

function lwm2mMembers(deviceData: string | null): Pick<KnownDevice, 'ownLwm2m'> {
  if (deviceData === null) return {}
  const data = parseJson(deviceData)
  const said = isJsonObject(data) ? data['transportConfiguration'] : undefined
  if (said === undefined || !isJsonObject(said)) return {}
  const own = Object.fromEntries(LWM2M_MEMBERS.flatMap((name) => (isShort(said[name]) ? [[name, said[name]]] : [])))
  return Object.entries(own).every(([name, value]) => name === 'type' || value === null) ? {} : { ownLwm2m: own }
}

/** What a device may say of its power saving. The rest may be of any length, and identities stay in memory. */
const LWM2M_MEMBERS = ['type', 'powerMode', 'psmActivityTimer', 'edrxCycle', 'pagingTransmissionWindow']
const LONGEST_WORD = 64

function isShort(value: JsonValue | undefined): value is string | number | null {
  return typeof value === 'number' || value === null || (typeof value === 'string' && value.length <= LONGEST_WORD)
}

/** Few devices are gateways: of the others the text is not parsed. */
function gatewayMembers(additionalInfo: string | null): Pick<KnownDevice, 'isGateway' | 'overwritesActivityTime'> {
  if (additionalInfo?.includes('"gateway"') !== true) return {}
  const info = parseJson(additionalInfo)
  if (!isJsonObject(info) || info['gateway'] !== true) return {}
  return { isGateway: true, ...(info['overwriteActivityTime'] === true ? { overwritesActivityTime: true } : {}) }
}

const ID_UNIQUE = { constraints: { 'device_credentials.credentials_id': () => EntityStoreErrors.CREDENTIALS_TAKEN() } }

function rowOf(credentials: DeviceCredentials): DeviceCredentialsTable {
  return {
    id: credentials.id,
    created_time: credentials.createdTime,
    version: credentials.version,
    tenant_id: credentials.tenantId,
    device_id: credentials.deviceId,
    credentials_type: credentials.credentialsType,
    credentials_id: credentials.credentialsId,
    credentials_value: credentials.credentialsValue,
  }
}

function credentialsOf(row: Selectable<DeviceCredentialsTable>): DeviceCredentials {
  return {
    id: row.id,
    createdTime: row.created_time,
    version: row.version,
    tenantId: row.tenant_id,
    deviceId: row.device_id,
    credentialsType: row.credentials_type as CredentialsType,
    credentialsId: row.credentials_id,
    credentialsValue: row.credentials_value,
  }
}
