/** What is no declared entity of its own, or goes with another: nothing of it is left. */
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { ParkedLaneView } from '../../engine/parking/parked-list.ts'
import type { Clock } from '../../model/clock.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { customers } from '../entities/customer.ts'
import { DECLARED_TABLES } from '../entities/declared.ts'
import { devices } from '../entities/device.ts'
import { users } from '../entities/user.ts'
import { openEntityStore } from '../../storage/entities/entity-store.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import { letterOf } from '../failed-messages.testkit.ts'

describe('deleting', () => {
  let platform: TestPlatform

  before(async () => {
    platform = await openTestPlatform()
  })
  after(() => platform.close())

  /** An attribute, and a relation each way. */
  async function leaveTraces(entity: EntityId): Promise<void> {
    const { services, tenant, tenantId } = platform
    const attribute = { key: 'trace', type: 'LONG', value: 1 } as const
    await services.attributes.saveByUser(tenant, entity, 'SERVER_SCOPE', [attribute])
    const other = entityId('TENANT', tenantId)
    const relation = { type: 'Uses', typeGroup: 'COMMON', additionalInfo: null } as const
    await services.relations.saveByUser(tenant, { ...relation, from: entity, to: other })
    await services.relations.saveByUser(tenant, { ...relation, from: other, to: entity })
  }

  async function assertNothingIsLeft({ entityType, id }: EntityId): Promise<void> {
    const { services, entities, timeSeries } = platform
    assert.deepEqual((await services.attributes.find({ entityType, id }, undefined, undefined)).value, [], id)
    assert.deepEqual((await entities.attributes.all(id)).rows, [])
    assert.equal(await entities.relations.count('FROM', id, 1), 0)
    assert.equal(await entities.relations.count('TO', id, 1), 0)
    const isNoted = (await entities.cleanups.pending()).includes(id)
    assert.ok(isNoted || timeSeries.deletedEntities.includes(id), `${entityType}: its series`)
  }

  test('a rule chain leaves nothing of it', async () => {
    const { services, tenant } = platform
    const { id } = await services.ruleChains.saveByUser(tenant, { name: 'traced chain' })
    await leaveTraces(entityId('RULE_CHAIN', id))
    await services.ruleChains.deleteByUser(tenant, id)
    await assertNothingIsLeft(entityId('RULE_CHAIN', id))
  })

  test('a customer leaves nothing of it and of its users', async () => {
    const { services, tenant, changes } = platform
    const all = services.declared
    const customer = await all.of(customers).saveByUser(tenant, { title: 'Traced' })
    const user = await all.of(users).saveByUser(tenant, {
      email: 'traced@example.org',
      authority: 'CUSTOMER_USER',
      customerId: customer.id,
    })
    const device = await services.devices.saveByUser(tenant, { name: 'traced device', customerId: customer.id })
    const originator = entityId('DEVICE', device.id)
    const alarm = await services.alarms.saveByUser(tenant, {
      type: 'Traced',
      severity: 'MAJOR',
      originator,
      assigneeId: user.id,
    })
    const gone = [entityId('CUSTOMER', customer.id), entityId('USER', user.id)]
    for (const entity of gone) await leaveTraces(entity)
    await all.of(customers).deleteByUser(tenant, customer.id)
    assert.equal(await all.of(users).findAnywhere(user.id), undefined)
    for (const entity of gone) await assertNothingIsLeft(entity)
    assert.equal((await all.ofType('ALARM')?.findAnywhere(alarm.id))?.['assigneeId'], null)
    const told = changes.filter(({ kind }) => kind === 'entity-deleted').map(({ entity }) => entity.id)
    for (const { id } of gone) assert.ok(told.includes(id))
  })

  test('a device leaves no parked lane and no dead letter; a lane is waited for', async () => {
    const { services, tenant, tenantId, parked, deadLetters, entities, clock } = platform
    const device = await services.devices.saveByUser(tenant, { name: 'failing' })
    const ofDevice = (id: number) => {
      const letter = letterOf(id, tenantId)
      const originator = entityId('DEVICE', device.id)
      return { ...letter, message: letter.message.with({ originator }) }
    }
    deadLetters.letters.push(ofDevice(1), letterOf(2, tenantId))
    parked.lanes.push(laneOf('own', device.id, tenantId), laneOf('another', 'other device', tenantId))
    await services.declared.of(devices).deleteByUser(tenant, device.id)
    const until = async (isSo: () => boolean) => {
      while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
    }
    await until(() => parked.done.length > 0 && deadLetters.letters.length === 1)
    assert.deepEqual(parked.done, ['give up own'])
    assert.deepEqual(
      deadLetters.letters.map(({ id }) => id),
      [2],
    )
    // The lane's messages became letters meanwhile.
    assert.ok((await entities.cleanups.pending()).includes(device.id))
    parked.lanes.splice(0, 1)
    deadLetters.letters.push(ofDevice(3))
    await until(() => {
      clock.runTimers()
      return deadLetters.letters.length === 1
    })
    while ((await entities.cleanups.pending()).includes(device.id))
      await new Promise((resolve) => setImmediate(resolve))
  })
})

function laneOf(id: string, originatorId: string, tenantId: string): ParkedLaneView {
  return {
    ...{
      id,
      tenantId,
      originatorId,
      originatorType: 'DEVICE',
      queueName: 'Main',
      messages: 1,
      bytes: 1,
      why: 'failed',
    },
    ...{ sinceMs: 1, tries: 1, nextTryMs: 2, state: 'waiting' },
  }
}

test('of what devices said and had, SQLite keeps no byte', async (context) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'millrace-erased-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  const openEntities = (clock: Clock) =>
    openEntityStore({
      file: path.join(folder, 'entities.db'),
      durability: 'process-death',
      clock,
      tables: DECLARED_TABLES,
    })
  const platform = await openTestPlatform({ openEntities })
  const { services, tenant } = platform
  const device = await services.devices.saveByUser(tenant, { name: 'secretive' }, 'TOKEN_OF_THE_ERASED')
  const entity = entityId('DEVICE', device.id)
  const long = `VALUE_OF_THE_ERASED ${'x'.repeat(20_000)}`
  const save = {
    entity,
    tenantId: platform.tenantId,
    scope: 'CLIENT_SCOPE',
    store: true,
    notify: false,
    notifyDevice: false,
    sequence: 1,
  } as const
  await services.attributes.save({ ...save, entries: [{ key: 'k', type: 'STRING', value: long }] })
  await services.declared.of(devices).deleteByUser(tenant, device.id)
  await platform.close()
  for (const name of await readdir(folder)) {
    const bytes = await readFile(path.join(folder, name))
    for (const text of ['TOKEN_OF_THE_ERASED', 'VALUE_OF_THE_ERASED'])
      assert.ok(!bytes.includes(text), `${text}: ${name}`)
  }
})
