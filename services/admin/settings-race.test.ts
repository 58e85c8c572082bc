/** Settings that processes save for the first time at the same moment: each change counts, on either database. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { openTestPlatform, testSecrets } from '../testkit.ts'

const secrets = testSecrets()

await onBothDatabases('settings saved by two processes at once, ', (open) => {
  test('each makes its change', async (t) => {
    const one = await open({ secrets })
    t.after(() => one.close())
    const two = await openTestPlatform({ secrets, start: false, openEntities: () => Promise.resolve(one.entities) })
    const count = ({ services }: typeof one) =>
      services.admin.settings.change('count', (before) => ({ n: Number(before['n'] ?? 0) + 1 }))
    await Promise.all([one, two, one, two].map(count))
    assert.deepEqual((await one.services.admin.settings.readAgain('count'))?.value, { n: 4 })
  })
})
