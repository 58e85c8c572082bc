/**
 * The process that `outbox.test.ts` kills: creates devices without end, several at once, on a link that stores nothing,
 * and prints a line for each that was acknowledged.
 */
import { DECLARED_TABLES } from '../entities/declared.ts'
import { NO_LANES } from '../../engine/parking/control.ts'
import { openEntityStore } from '../../storage/entities/entity-store.ts'
import { InProcessChangeFeed } from '../../engine/subscriptions/change-feed.ts'
import { createServices } from '../create-services.ts'
import { DEMO_LOGINS, seedDemo } from '../seed.ts'
import {
  MemoryTimeSeries,
  principalFrom,
  TestClock,
  testCatalogue,
  TestLink,
  testRandom,
  testSecrets,
  testScripts,
} from '../testkit.ts'
import { TestDeadLetters } from '../failed-messages.testkit.ts'

const [file = '', run = ''] = process.argv.slice(2)
const clock = new TestClock()
const entities = await openEntityStore({ file, durability: 'process-death', clock, tables: DECLARED_TABLES })
await seedDemo({ entities, clock, random: testRandom, catalogue: testCatalogue })
const link = new TestLink()
link.holdsReceipts = true
const services = createServices({
  ...testSecrets(),
  entities,
  timeSeries: new MemoryTimeSeries(),
  feed: new InProcessChangeFeed((error) => console.error(error)),
  link,
  deadLetters: new TestDeadLetters(),
  parked: NO_LANES,
  clock,
  random: testRandom,
  catalogue: testCatalogue,
  scripts: testScripts,
  attributeCacheBytes: 1 << 20,
  report: (text) => console.error(text),
})
const user = await entities.users.findByEmail(DEMO_LOGINS.tenantAdministrator.email)
if (user === undefined) throw new Error('The store was not seeded')
const tenant = principalFrom(user)
for (let index = 0; ; index += 4) {
  const saves = [0, 1, 2, 3].map(async (step) => {
    await services.devices.saveByUser(tenant, { name: `run ${run} device ${index + step}` })
    process.stdout.write('acknowledged\n')
  })
  await Promise.all(saves)
}
