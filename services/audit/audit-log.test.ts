import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AuditEntry } from '../../model/audit.ts'
import { NULL_UUID } from '../../model/entity-id.ts'
import type { AuditFilter } from '../../storage/entities/audit-log.ts'
import { apiKeys } from '../entities/api-key.ts'
import { assets } from '../entities/asset.ts'
import { devices } from '../entities/device.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import { AuditLog } from './audit-log.ts'

let platform: TestPlatform
before(async () => {
  platform = await openTestPlatform()
})
after(() => platform.close())

async function rowsOf(filter: Partial<AuditFilter>, textSearch?: string): Promise<readonly AuditEntry[]> {
  const whole = { tenantId: platform.tenantId, startTime: 1, endTime: Number.MAX_SAFE_INTEGER, actionTypes: [] }
  const { data } = await platform.services.audit.page({ ...whole, ...filter }, { page: 0, pageSize: 100, textSearch })
  return data
}

describe('the audit log', () => {
  test('has one row for each change by a user, with who, when, from where, and what', async () => {
    const principal = { ...platform.tenant, clientAddress: '198.51.100.7' }
    const service = platform.services.declared.of(assets)
    const asset = await service.saveByUser(principal, { name: 'audited' })
    platform.clock.time += 1
    await service.saveByUser(principal, { id: asset.id, name: 'audited again' })
    platform.clock.time += 1
    await service.deleteByUser(principal, asset.id)
    const rows = await rowsOf({ entity: { entityType: 'ASSET', id: asset.id } })
    assert.deepEqual(
      rows.map(({ actionType, entityName, actionStatus }) => [actionType, entityName, actionStatus]),
      [
        ['ADDED', 'audited', 'SUCCESS'],
        ['UPDATED', 'audited again', 'SUCCESS'],
        ['DELETED', 'audited again', 'SUCCESS'],
      ],
    )
    const [added, , deleted] = rows
    assert.equal(added?.userName, platform.tenant.email)
    assert.equal(added.clientAddress, '198.51.100.7')
    const { entity } = JSON.parse(added.actionData) as { entity: { name: string; id: { id: string } } }
    assert.deepEqual([entity.name, entity.id.id], ['audited', asset.id])
    assert.deepEqual(JSON.parse(deleted?.actionData ?? ''), { entityId: asset.id })
  })

  test('has what failed, with the reason, though nothing was changed', async () => {
    const service = platform.services.declared.of(assets)
    const first = await service.saveByUser(platform.tenant, { name: 'taken' })
    await assert.rejects(service.saveByUser(platform.tenant, { name: 'taken' }))
    platform.clock.time += 1
    await assert.rejects(platform.services.declared.of(devices).deleteByUser(platform.tenant, first.id))
    const failures = (await rowsOf({})).filter(({ actionStatus }) => actionStatus === 'FAILURE')
    assert.deepEqual(
      failures.map(({ actionType, entity, actionFailureDetails }) => [
        actionType,
        entity.id === NULL_UUID,
        actionFailureDetails,
      ]),
      [
        ['ADDED', true, 'Asset with such name already exists!'],
        ['DELETED', false, `Device with id [${first.id}] is not found`],
      ],
    )
  })

  test('has nothing of what was refused before it was tried', async () => {
    const { devices: connected, attributes, telemetry, declared } = platform.services
    const { tenant } = platform
    const { id } = await connected.saveByUser(tenant, { name: 'left alone' })
    const entity = { entityType: 'DEVICE', id } as const
    const range = { keys: [], startTs: 0, endTs: 1, deleteLatest: true, rewriteLatest: false }
    await assert.rejects(telemetry.deleteByUser(tenant, entity, range))
    await assert.rejects(attributes.deleteByUser(tenant, entity, 'SERVER_SCOPE', []))
    await assert.rejects(attributes.saveByUser(tenant, entity, 'CLIENT_SCOPE', [{ key: 'a', type: 'LONG', value: 1n }]))
    await assert.rejects(declared.of(devices).assignByUser(tenant, id, null))
    assert.deepEqual(
      (await rowsOf({ entity })).map(({ actionType }) => actionType),
      ['ADDED'],
    )
  })

  test('tells attributes, time series and credentials as clients expect them', async () => {
    const { devices, attributes, telemetry } = platform.services
    const device = await devices.saveByUser(platform.tenant, { name: 'audited device' })
    platform.clock.time += 1
    const entity = { entityType: 'DEVICE', id: device.id } as const
    const credentials = await devices.credentials(platform.tenantId, device.id)
    assert.ok(credentials)
    platform.clock.time += 1
    await devices.saveCredentialsByUser(platform.tenant, { ...credentials, credentialsId: 'AUDITED' })
    platform.clock.time += 1
    const saved = [
      { key: 'a', type: 'LONG', value: 1n },
      { key: 'b', type: 'BOOLEAN', value: true },
      { key: 'c', type: 'STRING', value: 'x' },
    ] as const
    await attributes.saveByUser(platform.tenant, entity, 'SERVER_SCOPE', saved)
    platform.clock.time += 1
    await attributes.deleteByUser(platform.tenant, entity, 'SERVER_SCOPE', ['a'])
    platform.clock.time += 1
    const values = [{ key: 't', type: 'LONG', value: 5n } as const]
    await telemetry.saveByUser(platform.tenant, entity, [{ ts: 7, entries: values }], 0)
    const rows = await rowsOf({ entity })
    assert.deepEqual(
      rows
        .slice(2)
        .map(({ actionType, entityName, actionData }) => [actionType, entityName, JSON.parse(actionData) as unknown]),
      [
        [
          'ATTRIBUTES_UPDATED',
          'audited device',
          { entityId: device.id, scope: 'SERVER_SCOPE', attributes: { a: '1', b: 'true', c: 'x' } },
        ],
        ['ATTRIBUTES_DELETED', 'audited device', { entityId: device.id, scope: 'SERVER_SCOPE', attributes: ['a'] }],
        ['TIMESERIES_UPDATED', 'audited device', { entityId: device.id, timeseries: [{ ts: 7, values: { t: '5' } }] }],
      ],
    )
    assert.equal(rows[1]?.actionType, 'CREDENTIALS_UPDATED')
    assert.match(rows[1].actionData, /"credentialsId":"AUDITED"/)
  })

  test('tells comments, deleted alarms and deleted relations as clients expect them', async () => {
    const { devices: connected, alarms, relations } = platform.services
    const { tenant } = platform
    const { id } = await connected.saveByUser(tenant, { name: 'audited alarms' })
    const originator = { entityType: 'DEVICE', id } as const
    const alarm = await alarms.saveByUser(tenant, { originator, type: 'hot', severity: 'MAJOR' })
    const comment = await alarms.saveCommentByUser(tenant, alarm.id, { comment: { text: 'seen' } })
    await alarms.saveCommentByUser(tenant, alarm.id, { id: comment.id, comment: { text: 'really' } })
    await alarms.deleteCommentByUser(tenant, alarm.id, comment.id)
    await alarms.deleteByUser(tenant, alarm.id)
    await relations.deleteAllByUser(tenant, originator)
    const dataOf = async (...actionTypes: AuditFilter['actionTypes']) =>
      (await rowsOf({ entity: originator, actionTypes })).map(({ actionData }) => JSON.parse(actionData) as unknown)
    assert.deepEqual(await dataOf('ADDED_COMMENT'), [{ comment: { text: 'seen' } }])
    const [updated] = (await dataOf('UPDATED_COMMENT')) as { comment: { text: string; edited: string } }[]
    assert.deepEqual([updated?.comment.text, updated?.comment.edited], ['really', 'true'])
    const [deleted] = (await dataOf('DELETED_COMMENT')) as { comment: { text: string } }[]
    assert.equal(deleted?.comment.text, 'really')
    assert.deepEqual(await dataOf('ALARM_DELETE'), [{ alarmId: alarm.id, originatorId: id }])
    assert.deepEqual(await dataOf('RELATIONS_DELETED'), [{}])
  })

  test('shows nothing internal of a save that failed', async () => {
    const { declared } = platform.services
    const userId = { entityType: 'USER', id: platform.tenant.userId }
    const service = declared.of(apiKeys)
    await assert.rejects(service.saveByUser(platform.tenant, { userId: userId.id, description: '', hash: 'of a key' }))
    const rows = (await rowsOf({})).filter(({ entity }) => entity.entityType === 'API_KEY')
    assert.deepEqual(
      rows.map(({ actionData }) => actionData.includes('of a key')),
      [false],
    )
  })

  test('is found by kind of action, by text and by time, and only by its tenant', async () => {
    assert.ok((await rowsOf({ actionTypes: ['DELETED'] })).every(({ actionType }) => actionType === 'DELETED'))
    assert.ok((await rowsOf({}, 'AUDITED again')).length > 0)
    assert.equal((await rowsOf({ startTime: platform.clock.time + 1 })).length, 0)
    assert.equal((await rowsOf({ tenantId: NULL_UUID })).length, 0)
  })

  test('does not grow for ever: old rows go, and the oldest of a tenant that has too many', async () => {
    const { entities, clock } = platform
    const parts = {
      entities,
      clock,
      random: { next: () => 0, uuid: () => NULL_UUID },
      report: () => undefined,
      nameOf: async () => undefined,
    }
    const before = await rowsOf({})
    const few = new AuditLog({ ...parts, settings: { ttlMs: 0, maxRowsPerTenant: before.length - 2 } })
    assert.equal(await few.cleanUp(), false)
    assert.deepEqual(await rowsOf({}), before.slice(2))
    const short = new AuditLog({ ...parts, settings: { ttlMs: 1, maxRowsPerTenant: 1000 } })
    clock.time += 10
    await short.cleanUp()
    assert.deepEqual(await rowsOf({}), [])
  })
})
