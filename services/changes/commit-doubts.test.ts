import { deviceProfiles } from '../entities/device-profile.ts'
import { devices } from '../entities/device.ts'
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { entityId } from '../../model/entity-id.ts'
import type { Entry } from '../../model/value.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import { LOOK_AGAIN_MS } from './commit-doubts.ts'
import { DEMO_LOGINS } from '../seed.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'

/** The commit that comes next is made, now or when the test says so, and its answer is lost. */
async function losingAnswer(
  platform: TestPlatform,
  change: () => Promise<unknown>,
  isLate = false,
): Promise<() => Promise<unknown>> {
  const { entities } = platform
  const write = entities.write.bind(entities)
  let late: () => Promise<unknown> = async () => undefined
  entities.write = async (statements) => {
    entities.write = write
    late = () => write(statements)
    if (!isLate) await late()
    throw EntityStoreErrors.UNAVAILABLE({ reason: 'the connection broke' })
  }
  await assert.rejects(change(), { code: 'entities.UNAVAILABLE' })
  return late
}

async function platformFor(context: TestContext) {
  const platform = await openTestPlatform()
  context.after(() => platform.close())
  return platform
}

const { email, password } = DEMO_LOGINS.tenantAdministrator

for (const isLate of [false, true]) {
  const when = isLate ? 'that the server makes after its answer was lost' : 'whose answer was lost'

  test(`issue-8 7: a change of password ${when} withdraws the tokens`, async (context) => {
    const platform = await platformFor(context)
    const { services, clock, tenant } = platform
    const before = await services.users.tokensValidFrom(tenant.userId)
    clock.time += 60_000
    const change = () => services.users.changePassword(tenant.userId, password, 'another password')
    const late = await losingAnswer(platform, change, isLate)
    if (isLate) {
      assert.equal(await services.users.tokensValidFrom(tenant.userId), before)
      await late()
      clock.runTimers()
    }
    assert.ok((await services.users.tokensValidFrom(tenant.userId)) > before)
    assert.equal(await services.users.authenticate(email, password), undefined)
  })

  test(`who keeps relations looks again after a commit ${when}`, async (context) => {
    const platform = await platformFor(context)
    const { services, clock, tenant, tenantId, feed } = platform
    let told = 0
    context.after(feed.listenToAll(['relations-changed'], () => void told++))
    const to = entityId('DEVICE', (await services.devices.saveByUser(tenant, { name: 'a' })).id)
    const relation = { from: entityId('TENANT', tenantId), to, type: 'Manages', typeGroup: 'COMMON' } as const
    const draft = { ...relation, additionalInfo: null }
    const change = () => services.relations.save(tenantId, draft)
    const late = await losingAnswer(platform, change, isLate)
    await late()
    assert.equal(told, 1)
    clock.runTimers()
    assert.ok(told > 1)
  })

  test(`issue-8 7: attributes of a commit ${when} are read as they are`, async (context) => {
    const platform = await platformFor(context)
    const { services, clock, tenant } = platform
    const device = await services.devices.saveByUser(tenant, { name: 'a' })
    const entity = { entityType: 'DEVICE', id: device.id } as const
    const entry = (value: number): Entry => ({ key: 'k', type: 'LONG', value })
    const save = (value: number) => services.attributes.saveByUser(tenant, entity, 'SERVER_SCOPE', [entry(value)])
    const value = async () => (await services.attributes.find(entity, 'SERVER_SCOPE', ['k'])).value[0]?.value
    await save(1)
    assert.equal(await value(), 1)
    const late = await losingAnswer(platform, () => save(2), isLate)
    if (isLate) {
      assert.equal(await value(), 1)
      await late()
      clock.runTimers()
    }
    assert.equal(await value(), 2)
    assert.ok(platform.changes.some((change) => change.kind === 'attributes' && change.audience === 'caches'))
  })
}

test('issue-8 7: whoever caches devices, chains and queues is told to look again', async (context) => {
  const platform = await platformFor(context)
  const { services, tenant, tenantId, changes } = platform
  const device = await services.devices.saveByUser(tenant, { name: 'a' })
  const credentials = await services.devices.credentials(tenantId, device.id)
  assert.ok(credentials !== undefined)
  const draft = {
    deviceId: device.id,
    credentialsType: 'ACCESS_TOKEN',
    credentialsId: 'new token',
    credentialsValue: null,
  } as const
  const profiles = services.declared.of(deviceProfiles)
  const profile = await profiles.findBy(tenantId, { default: true })
  assert.ok(profile !== undefined)
  const chain = await services.ruleChains.saveByUser(tenant, { name: 'chain' })
  const told = async (change: () => Promise<unknown>) => {
    changes.length = 0
    await losingAnswer(platform, change)
    return changes.map((each) =>
      each.kind === 'device-changed' ? `${each.kind} ${each.credentialsChanged}` : each.kind,
    )
  }
  assert.deepEqual(await told(() => services.devices.saveCredentialsByUser(tenant, draft)), ['device-changed true'])
  assert.deepEqual(await told(() => services.declared.of(devices).deleteByUser(tenant, device.id)), [
    'device-changed true',
  ])
  assert.deepEqual(await told(() => profiles.saveByUser(tenant, { ...profile, version: undefined })), [
    'device-changed false',
  ])
  assert.deepEqual(await told(() => services.ruleChains.deleteByUser(tenant, chain.id)), ['rule-chain-changed'])
})

test('what was refused is in no doubt, and a closed platform looks at nothing again', async (context) => {
  const platform = await platformFor(context)
  const { services, tenant, changes, clock } = platform
  await services.devices.saveByUser(tenant, { name: 'a' })
  const b = await services.devices.saveByUser(tenant, { name: 'b' })
  changes.length = 0
  await assert.rejects(services.devices.saveByUser(tenant, { id: b.id, name: 'a' }), { code: 'entities.NAME_TAKEN' })
  assert.deepEqual(changes, [])
  await losingAnswer(platform, () => services.devices.saveByUser(tenant, { id: b.id, name: 'c' }))
  assert.equal(changes.length, 1)
  clock.runTimers()
  assert.equal(changes.length, 1 + LOOK_AGAIN_MS.length)
  // The timers began writes of their own (sessions that are over): they are not the one whose answer is lost.
  await nextTurn()
  await losingAnswer(platform, () => services.devices.saveByUser(tenant, { id: b.id, name: 'd' }))
  await services.close()
  changes.length = 0
  clock.runTimers()
  assert.deepEqual(changes, [])
})
