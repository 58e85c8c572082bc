import assert from 'node:assert/strict'
import { DECLARED_TABLES } from '../entities/declared.ts'
import { after, before, test } from 'node:test'
import { NO_LANES } from '../../engine/parking/control.ts'
import { openEntityStore } from '../../storage/entities/entity-store.ts'
import { hashPassword, verifyPassword } from './secrets.ts'
import { rowsOf } from '../entities/rows.ts'
import { tenants } from '../entities/tenant.ts'
import { DEMO_LOGINS, seedDemo, seedMinimal } from '../seed.ts'
import {
  openTestPlatform,
  TestClock,
  testCatalogue,
  testRandom,
  testScripts,
  type TestPlatform,
  testSecrets,
} from '../testkit.ts'
import { createServices } from '../create-services.ts'

let platform: TestPlatform

before(async () => {
  platform = await openTestPlatform()
})
after(() => platform.close())

for (const { email, password } of Object.values(DEMO_LOGINS)) {
  test(`${email} logs in with the seeded password and no other`, async () => {
    const { users } = platform.services
    assert.equal((await users.authenticate(email, password))?.email, email)
    assert.equal(await users.authenticate(email, `${password}x`), undefined)
    assert.equal(await users.authenticate(email.toUpperCase(), password), undefined)
  })
}

test('an unknown user is refused like a wrong password', async () => {
  assert.equal(await platform.services.users.authenticate('nobody@millrace.local', 'x'), undefined)
})

test('a changed password works, the old one does not, and tokens of before are refused', async () => {
  const { services, customer, clock } = platform
  const { users } = services
  const { email, password } = DEMO_LOGINS.customerUser
  assert.equal(await users.tokensValidFrom(customer.userId), 0)
  await assert.rejects(users.changePassword(customer.userId, 'wrong', 'better secret'), {
    message: "Current password doesn't match!",
  })
  await assert.rejects(users.changePassword(customer.userId, password, 'short'), {
    message: 'Password must be 6 or more characters in length.',
  })
  await assert.rejects(users.changePassword(customer.userId, password, password), {
    message: 'New password should be different from existing!',
  })
  clock.time += 1_500
  await users.changePassword(customer.userId, password, 'better secret')
  assert.equal(await users.authenticate(email, password), undefined)
  assert.equal((await users.authenticate(email, 'better secret'))?.id, customer.userId)
  assert.equal(await users.tokensValidFrom(customer.userId), Math.floor(clock.time / 1000) * 1000)
  const stored = await platform.entities.users.credentials(customer.userId)
  assert.equal(stored?.tokensValidFrom, Math.floor(clock.time / 1000) * 1000)
})

test('what another process withdraws, or may have withdrawn, is read from the store', async () => {
  const { services, entities, feed, systemAdministrator } = platform
  const id = systemAdministrator.userId
  const withdraw = async (validFrom: number): Promise<void> => {
    const credentials = await entities.users.credentials(id)
    assert.ok(credentials !== undefined)
    await entities.write(entities.users.changePassword(credentials, credentials.passwordHash ?? '', validFrom))
  }
  assert.equal(await services.users.tokensValidFrom(id), 0)
  await withdraw(1000)
  assert.equal(await services.users.tokensValidFrom(id), 0, 'nobody told')
  feed.publish({ kind: 'user-tokens-withdrawn', entity: { entityType: 'USER', id } })
  assert.equal(await services.users.tokensValidFrom(id), 1000)
  await withdraw(2000)
  feed.gap()
  assert.equal(await services.users.tokensValidFrom(id), 2000)
})

test('tokens of a user that is not there are never valid', async () => {
  const validFrom = await platform.services.users.tokensValidFrom('11111111-2222-1333-8444-555555555555')
  assert.equal(validFrom, Number.MAX_SAFE_INTEGER)
})

test('the same password has another hash each time, and each is checked', async () => {
  const [first, second] = await Promise.all([hashPassword('secret'), hashPassword('secret')])
  assert.notEqual(first, second)
  assert.ok(await verifyPassword('secret', first))
  assert.ok(!(await verifyPassword('Secret', second)))
  await assert.rejects(verifyPassword('secret', 'plain text'), /damaged/)
})

test('a store that has users is not seeded again', async () => {
  const { entities, clock } = platform
  const options = { entities, clock, random: testRandom, catalogue: testCatalogue }
  assert.equal(await seedDemo(options), false)
  assert.equal(await seedMinimal(options), undefined)
  assert.equal(await rowsOf(tenants, entities).count([]), 1)
})

test('two starts at once seed once', async () => {
  const clock = new TestClock()
  const entities = await openEntityStore({
    file: ':memory:',
    durability: 'process-death',
    clock,
    tables: DECLARED_TABLES,
  })
  const options = { entities, clock, random: testRandom, catalogue: testCatalogue }
  const results = await Promise.allSettled([seedDemo(options), seedDemo(options)])
  assert.equal(results.filter((result) => result.status === 'fulfilled' && result.value).length, 1)
  assert.equal(await rowsOf(tenants, entities).count([]), 1)
  await entities.close()
})

test('without the demo there is one administrator with a random password', async () => {
  const clock = new TestClock()
  const entities = await openEntityStore({
    file: ':memory:',
    durability: 'process-death',
    clock,
    tables: DECLARED_TABLES,
  })
  const login = await seedMinimal({ entities, clock, random: testRandom, catalogue: testCatalogue })
  assert.match(login?.password ?? '', /^[A-Za-z0-9]{24}$/)
  assert.equal(await rowsOf(tenants, entities).count([]), 0)
  const { timeSeries, feed, link } = platform
  const services = createServices({
    ...testSecrets(),
    entities,
    timeSeries,
    feed,
    link,
    deadLetters: platform.deadLetters,
    parked: NO_LANES,
    clock,
    random: testRandom,
    catalogue: testCatalogue,
    scripts: testScripts,
    attributeCacheBytes: 1 << 20,
    report: () => undefined,
  })
  assert.equal((await services.users.authenticate(login?.email ?? '', login?.password ?? ''))?.authority, 'SYS_ADMIN')
  assert.equal(await services.users.authenticate(login?.email ?? '', 'sysadmin'), undefined)
  await entities.close()
})
