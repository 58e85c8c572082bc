/** Two processes that give one widgets bundle its content at the same moment: there is that of one of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../model/clock.ts'
import { openPostgresEntityStore } from '../../storage/entities/entity-store.ts'
import { emptyDatabase, serverForFile } from '../../storage/postgres/testkit.ts'
import { DECLARED_TABLES } from '../entities/declared.ts'
import { widgetTypes } from '../entities/widget-type.ts'
import { widgetsBundles } from '../entities/widgets-bundle.ts'
import { openTestPlatform, testSecrets } from '../testkit.ts'

const server = await serverForFile()

test('the content of a bundle is never a mixture', { skip: server === undefined }, async (t) => {
  assert.ok(server !== undefined)
  const settings = { url: await emptyDatabase(server), applicationName: 'test', tables: DECLARED_TABLES }
  const secrets = testSecrets()
  const openEntities = (clock: Clock) => openPostgresEntityStore({ ...settings, clock })
  const one = await openTestPlatform({ secrets, openEntities })
  t.after(() => one.close())
  const two = await openTestPlatform({ secrets, openEntities, start: false })
  t.after(() => two.close())
  const { tenant, services } = one
  const bundle = await services.declared.of(widgetsBundles).saveByUser(tenant, { title: 'cards' })
  const types = services.declared.of(widgetTypes)
  const ids: string[] = []
  for (const name of ['a', 'b', 'c', 'd'])
    ids.push((await types.saveByUser(tenant, { name, descriptor: { type: 'latest' } })).id)
  for (let round = 0; round < 30; round++) {
    const ends = await Promise.allSettled([
      one.services.content.widgets.setContent(tenant, bundle.id, ids.slice(0, 2)),
      two.services.content.widgets.setContent(tenant, bundle.id, ids.slice(2)),
    ])
    const names = (await services.content.widgets.typesOf(tenant, bundle.id)).map(({ name }) => name).join()
    assert.ok(['a,b', 'c,d'].includes(names), `${round} ${names} ${JSON.stringify(ends)}`)
  }
  const [set, gone] = await Promise.allSettled([
    services.content.widgets.setContent(tenant, bundle.id, []),
    services.declared.of(widgetsBundles).deleteByUser(tenant, bundle.id),
  ])
  assert.equal(gone.status, 'fulfilled')
  if (set.status === 'rejected') assert.match(String(set.reason), /is not found/)
})
