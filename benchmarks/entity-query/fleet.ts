/**
 * A large tenant: devices with attributes and latest telemetry of which a known share matches, some of them of customers, with alarms, and
 * assets that contain a tenth of them.
 */
import { randomUUID } from 'node:crypto'
import type { EntityId } from '../../model/entity-id.ts'
import type { Entry } from '../../model/value.ts'
import { alarms } from '../../services/entities/alarm.ts'
import { assets } from '../../services/entities/asset.ts'
import { customers } from '../../services/entities/customer.ts'
import { deviceProfiles } from '../../services/entities/device-profile.ts'
import { devices } from '../../services/entities/device.ts'
import { recordWith, rowsOf } from '../../services/entities/rows.ts'
import type { TestPlatform } from '../../services/testkit.ts'
import type { TimeSeriesStore } from '../../storage/timeseries/store.ts'

const PER_WRITE = 2_000
const CUSTOMERS = 100
const ALARMS_PER_DEVICE = 5
const HALLS = 10
const ROOT_NAME = 'plant'

export interface Fleet {
  /** Contains halls, which contain a tenth of the devices. */
  readonly root: EntityId
}

/** Levels are 0 to 999, sites s0 to s99, temperatures 0 to 999, modes m0 to m9: each as often as the others. */
export async function fill(platform: TestPlatform, timeSeries: TimeSeriesStore, count: number): Promise<Fleet> {
  const { entities, services, tenant, tenantId } = platform
  const profile = await services.declared.of(deviceProfiles).findBy(tenantId, { default: true })
  if (profile === undefined) throw new Error('the tenant has no default profile')
  const known = await services.declared.of(assets).findByName(tenantId, ROOT_NAME)
  if (known !== undefined) return { root: { entityType: 'ASSET', id: known.id } }
  const identity = (createdTime: number) => ({ id: randomUUID(), createdTime, version: 1, tenantId })
  const owners = Array.from({ length: CUSTOMERS }, (_, number) =>
    recordWith(customers, identity(number), { title: `Customer ${String(number).padStart(3, '0')}` }),
  )
  await entities.write([rowsOf(customers, entities).insertAll(owners.map((owner) => customers.rowOf(owner)))])
  const ids: string[] = []
  for (let start = 0; start < count; start += PER_WRITE) {
    const fresh = Array.from({ length: Math.min(PER_WRITE, count - start) }, (_, place) => {
      const number = start + place
      return recordWith(devices, identity(number), {
        // Three of four are a customer's.
        customerId: number % 4 === 0 ? null : (owners[number % CUSTOMERS]?.id ?? null),
        name: `device ${String(number * 7919).padStart(10, '0')} #${String(number % 100).padStart(2, '0')}`,
        type: profile.name,
        label: number % 3 === 0 ? null : `Label ${number % 1000}`,
        deviceProfileId: profile.id,
        deviceData: {},
      })
    })
    const alarming = fresh.filter(({ createdTime }) => createdTime % ALARMS_PER_DEVICE === 0)
    await entities.write([
      rowsOf(devices, entities).insertAll(fresh.map((device) => devices.rowOf(device))),
      entities.attributes.save(
        fresh.flatMap(({ id, createdTime: number }) => [
          attribute(id, { key: 'level', type: 'LONG', value: (number * 31) % 1000 }),
          attribute(id, { key: 'site', type: 'STRING', value: `s${(number * 17) % 100}` }),
          attribute(id, { key: 'active', type: 'BOOLEAN', value: number % 2 === 0 }),
        ]),
      ),
      rowsOf(alarms, entities).insertAll(
        alarming.map(({ id, createdTime: number, customerId }) =>
          alarms.rowOf(
            recordWith(alarms, identity(number), {
              ...{ customerId, type: `Type ${number % 50}`, originatorType: 'DEVICE', originatorId: id },
              ...{ severity: number % 3 === 0 ? 'CRITICAL' : 'MINOR', cleared: number % 7 === 0 },
            }),
          ),
        ),
      ),
    ])
    await timeSeries.write(
      fresh.map(({ id, createdTime: number }) => ({
        entityId: id,
        points: [
          { key: 'temperature', type: 'LONG' as const, value: (number * 13) % 1000, ts: 1 },
          { key: 'mode', type: 'STRING' as const, value: `m${(number * 3) % 10}`, ts: 1 },
        ],
        ...{ sequence: 0, ttlSeconds: 0, history: false, latest: true },
      })),
    )
    ids.push(...fresh.map(({ id }) => id))
  }
  const asset = async (name: string): Promise<EntityId> => {
    const { id } = await services.declared.of(assets).saveByUser(tenant, { name })
    return { entityType: 'ASSET', id }
  }
  const root = await asset(ROOT_NAME)
  const contained = (from: EntityId, to: EntityId) => {
    const relation = { from, to, type: 'Contains', typeGroup: 'COMMON', additionalInfo: null } as const
    return entities.relations.save(tenantId, relation, randomUUID(), 1)
  }
  const perHall = Math.floor(count / (HALLS * HALLS))
  for (let number = 0; number < HALLS; number++) {
    const hall = await asset(`hall ${number}`)
    const inside = ids.slice(number * perHall, (number + 1) * perHall)
    const steps = inside.map((id) => contained(hall, { entityType: 'DEVICE', id }))
    await entities.write([contained(root, hall), ...steps])
  }
  return { root }
}

function attribute(entityId: string, entry: Entry) {
  return { entityId, scope: 'SERVER_SCOPE' as const, attribute: { ...entry, lastUpdateTs: 1 }, sequence: 0 }
}
