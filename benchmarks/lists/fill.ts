/**
 * A tenant that has long been there: a million rows of the audit log, a million events of rule nodes (nine of ten of one node), a hundred
 * thousand alarms of some devices. Put in by the repositories, many rows at a time.
 */
import { randomUUID } from 'node:crypto'
import { Progress } from '../../commands/progress.ts'
import { ACTION_TYPES } from '../../model/audit.ts'
import { entityId } from '../../model/entity-id.ts'
import { DEMO_LOGINS } from '../../services/seed.ts'
import { alarms, SEVERITIES } from '../../services/entities/alarm.ts'
import { deviceProfiles } from '../../services/entities/device-profile.ts'
import { devices } from '../../services/entities/device.ts'
import { recordWith, rowsOf } from '../../services/entities/rows.ts'
import { ENTITY_ALARMS } from '../../storage/entities/alarms.ts'
import { AUDIT_LOG_TABLE } from '../../storage/entities/audit-log.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'

const PER_WRITE = 2_000
const MS_PER_ROW = 100
/** How many entities, or users, rows of the audit log are of. */
export const SHARES = { entities: 1_000, users: 20 } as const
const ONE_OF_OTHER_NODES = 10
/** Sorted by the time of its making, as the program's own are. */
const OTHER_NODES = 100

export interface Filled {
  readonly tenantId: string
  readonly userIds: readonly string[]
  readonly entityIds: readonly string[]
  /** Of whom nine of ten events tell. */
  readonly nodeId: string
  readonly deviceIds: readonly string[]
  /** Unix ms. */
  readonly begin: number
  readonly end: number
  readonly rowsPerSecond: Readonly<Record<'audit' | 'events' | 'alarms', number>>
}

export interface Counts {
  readonly rows: number
  readonly alarms: number
  readonly devices: number
}

const NO_ERRORS = { taken: {}, overtaken: () => new Error('a row was changed') }

export async function fill(entities: EntityStore, counts: Counts, now: number): Promise<Filled> {
  const administrator = await entities.users.findByEmail(DEMO_LOGINS.tenantAdministrator.email)
  const tenantId = administrator?.tenantId ?? undefined
  if (administrator === undefined || tenantId === undefined) throw new Error('the store has no demo tenant')
  const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUID())
  const userIds = [administrator.id, ...ids(SHARES.users - 1)]
  const entityIds = ids(SHARES.entities)
  const nodeId = randomUUID()
  const begin = now - counts.rows * MS_PER_ROW
  const times = { tenantId, begin, nodeId, userIds, entityIds }
  const audit = await perSecond('audit', counts.rows, (from, to) => auditRows(entities, times, from, to))
  const events = await perSecond('events', counts.rows, (from, to) => eventRows(entities, times, from, to))
  const deviceIds = ids(counts.devices)
  await makeDevices(entities, tenantId, deviceIds)
  const alarmsMade = await perSecond('alarms', counts.alarms, (from, to) =>
    alarmRows(entities, { tenantId, begin, deviceIds, userId: administrator.id }, from, to),
  )
  const rowsPerSecond = { audit, events, alarms: alarmsMade }
  return { tenantId, userIds, entityIds, nodeId, deviceIds, begin, end: now, rowsPerSecond }
}

async function perSecond(
  what: string,
  count: number,
  put: (from: number, to: number) => Promise<void>,
): Promise<number> {
  const progress = new Progress()
  const begun = performance.now()
  for (let from = 0; from < count; from += PER_WRITE) {
    const to = Math.min(count, from + PER_WRITE)
    await put(from, to)
    progress.show(what, to, count, 'rows')
  }
  progress.end()
  return Math.round(count / ((performance.now() - begun) / 1000))
}

type Times = Pick<Filled, 'tenantId' | 'begin' | 'nodeId' | 'userIds' | 'entityIds'>

async function auditRows(entities: EntityStore, times: Times, from: number, to: number): Promise<void> {
  const { tenantId, begin, userIds, entityIds } = times
  const rows = range(from, to).map((number) => {
    const place = (number * 7) % SHARES.entities
    const id = entityIds[place] ?? ''
    return {
      ...{ id: randomUUID(), created_time: begin + number * MS_PER_ROW, version: 1, tenant_id: tenantId },
      ...{ customer_id: null, entity_type: 'DEVICE', entity_id: id },
      entity_name: `device ${String(place).padStart(4, '0')}`,
      user_id: userIds[number % SHARES.users] ?? '',
      user_name: `user${number % SHARES.users}@example.com`,
      client_address: `198.51.100.${number % 250}`,
      action_type: ACTION_TYPES[number % ACTION_TYPES.length] ?? 'UPDATED',
      action_data: JSON.stringify({ entityId: id, attributes: { level: number, note: 'x'.repeat(200) } }),
      ...{ action_status: number % 50 === 0 ? 'FAILURE' : 'SUCCESS', action_failure_details: '' },
    }
  })
  await entities.write([entities.rows(AUDIT_LOG_TABLE, NO_ERRORS).insertAll(rows)])
}

async function eventRows({ events }: EntityStore, times: Times, from: number, to: number): Promise<void> {
  const { tenantId, begin, nodeId, entityIds } = times
  await events.add(
    range(from, to).map((number) => {
      const other = entityIds[(number / ONE_OF_OTHER_NODES) % OTHER_NODES] ?? ''
      const createdTime = begin + number * MS_PER_ROW
      const at = createdTime.toString(16).padStart(12, '0')
      const body = {
        ...{ type: number % 2 === 0 ? 'IN' : 'OUT', entityId: other, entityType: 'DEVICE', dataType: 'JSON' },
        ...{ msgId: randomUUID(), msgType: 'POST_TELEMETRY_REQUEST', relationType: 'Success' },
        ...{ data: `{"temperature":${number % 1000}}`, metadata: '{"deviceName":"device 0001","ts":"1700000000000"}' },
        error: number % 100 === 1 ? `failed at ${number % 7}` : undefined,
      }
      const id = number % ONE_OF_OTHER_NODES === 0 ? other : nodeId
      const entity = entityId('RULE_NODE', id)
      const eventId = `${at.slice(0, 8)}-${at.slice(8)}-7000-8000-${randomUUID().slice(24)}`
      return { id: eventId, createdTime, tenantId, entity, type: 'DEBUG_RULE_NODE' as const, server: 'one', body }
    }),
  )
}

async function makeDevices(entities: EntityStore, tenantId: string, ids: readonly string[]): Promise<void> {
  const profile = await rowsOf(deviceProfiles, entities).find([
    { column: 'tenant_id', is: tenantId },
    { column: 'is_default', is: 1 },
  ])
  await perSecond('devices', ids.length, async (from, to) => {
    const records = range(from, to).map((number) =>
      recordWith(
        devices,
        { id: ids[number] ?? '', createdTime: number + 1, version: 1, tenantId },
        {
          ...{ name: `device of alarms ${String(number).padStart(6, '0')}`, type: 'default', deviceData: {} },
          deviceProfileId: String(profile?.['id']),
        },
      ),
    )
    await entities.write([rowsOf(devices, entities).insertAll(records.map((record) => devices.rowOf(record)))])
  })
}

interface Alarming extends Pick<Filled, 'tenantId' | 'begin' | 'deviceIds'> {
  readonly userId: string
}

async function alarmRows(entities: EntityStore, alarming: Alarming, from: number, to: number): Promise<void> {
  const { tenantId, begin, deviceIds, userId } = alarming
  const records = range(from, to).map((number) => {
    // Each device's alarms are of types of their own: of one it has one active at most.
    const originatorId = deviceIds[number % deviceIds.length] ?? ''
    return recordWith(
      alarms,
      { id: randomUUID(), createdTime: begin + number * MS_PER_ROW * 10, version: 1, tenantId },
      {
        ...{ type: `Type ${Math.floor(number / deviceIds.length)}`, originatorType: 'DEVICE', originatorId },
        ...{ severity: SEVERITIES[number % SEVERITIES.length], cleared: number % 3 !== 0 },
        ...{ acknowledged: number % 2 === 0, assigneeId: number % 100 === 0 ? userId : null, endTs: begin },
      },
    )
  })
  const shown = records.map(({ id, createdTime, originatorId }) => ({
    ...{ id: `${id}/${originatorId}`, created_time: createdTime, version: 1, tenant_id: tenantId },
    ...{ entity_type: 'DEVICE', entity_id: originatorId, alarm_id: id },
  }))
  await entities.write([
    rowsOf(alarms, entities).insertAll(records.map((record) => alarms.rowOf(record))),
    entities.rows(ENTITY_ALARMS, NO_ERRORS).insertAll(shown),
  ])
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, place) => from + place)
}
