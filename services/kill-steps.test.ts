/**
 * A process that dies at any durable step of a change: the entity, the audit row and the message to the rule engine are all there or none is; an
 * import of a file goes on. On SQLite, on PostgreSQL where a server is at hand.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { entityId } from '../model/entity-id.ts'
import { openEntityStore, openPostgresEntityStore, type EntityStore } from '../storage/entities/entity-store.ts'
import { emptyDatabase, serverForFile } from '../storage/postgres/testkit.ts'
import { actionOf } from './audit/actions.ts'
import { assets } from './entities/asset.ts'
import { customers } from './entities/customer.ts'
import { dashboards } from './entities/dashboard.ts'
import { DECLARED_TABLES } from './entities/declared.ts'
import { devices } from './entities/device.ts'
import { users } from './entities/user.ts'
import type { FilePiece, FilePosition } from './import/importer.ts'
import { atEveryStep, type KilledStore } from './kill-steps.ts'
import { openTestPlatform, testSecrets, type TestPlatform } from './testkit.ts'

const clock = { now: () => 1_700_000_000_000 }
const server = await serverForFile()
const secrets = testSecrets()

/** Changes by a user, each with names of its own. */
const CHANGES: Readonly<Record<string, (platform: TestPlatform, name: string) => Promise<void>>> = {
  'a device with a new profile and its credentials': async ({ services, tenant }, name) => {
    const device = await services.devices.saveByUser(tenant, { name, type: `type of ${name}` }, `token-${name}`)
    await services.devices.saveByUser(tenant, { id: device.id, name, label: 'changed' }, `other-${name}`)
    await services.declared.of(devices).deleteByUser(tenant, device.id)
  },
  'an asset with attributes, assigned to a customer': async ({ services, tenant }, name) => {
    const customer = await services.declared.of(customers).saveByUser(tenant, { title: name })
    const asset = await services.declared.of(assets).saveByUser(tenant, { name, type: 'hall' })
    await services.declared.of(assets).assignByUser(tenant, asset.id, customer)
    const attribute = { key: 'floor', type: 'LONG', value: 1 } as const
    await services.attributes.saveByUser(tenant, entityId('ASSET', asset.id), 'SERVER_SCOPE', [attribute])
    await services.declared.of(customers).deleteByUser(tenant, customer.id)
  },
  'a dashboard of two customers': async ({ services, tenant }, name) => {
    const all = services.declared.of(customers)
    const two = [
      await all.saveByUser(tenant, { title: `${name} 1` }),
      await all.saveByUser(tenant, { title: `${name} 2` }),
    ]
    const dashboard = await services.declared.of(dashboards).saveByUser(tenant, { title: name })
    await services.content.dashboards.setCustomers(tenant, dashboard.id, two)
  },
  'a user, and a relation to it': async ({ services, tenant, tenantId }, name) => {
    const email = `${name.replace(/\W/g, '-')}@example.org`
    const user = await services.declared.of(users).saveByUser(tenant, { email, authority: 'TENANT_ADMIN' })
    const ends = { from: entityId('TENANT', tenantId), to: entityId('USER', user.id) }
    await services.relations.saveByUser(tenant, { ...ends, type: 'Has', typeGroup: 'COMMON', additionalInfo: null })
  },
  'a rule chain': async ({ services, tenant }, name) => {
    const { id } = await services.ruleChains.saveByUser(tenant, { name })
    await services.ruleChains.deleteByUser(tenant, id)
  },
}

function testKills(open: () => Promise<EntityStore>): void {
  let store: EntityStore
  before(async () => {
    store = await open()
  })
  after(() => store.close())

  /** A process over the store; its outbox is left, so that every message is there to be looked at. */
  const start = (entities: EntityStore): Promise<TestPlatform> =>
    openTestPlatform({
      start: false,
      secrets,
      openEntities: () => Promise.resolve({ ...entities, close: () => Promise.resolve() }),
    })

  for (const [what, change] of Object.entries(CHANGES))
    test(what, async () => {
      const steps = await atEveryStep(store, async (killed, { step, when }) => {
        const platform = await start(store)
        const dying = await startDying(killed)
        await change(dying, `${what} ${step} ${when}`).catch(() => undefined)
        await dying.close()
        await assertAllOrNone(platform)
        await platform.close()
      })
      assert.ok(steps >= 2, `${steps} steps`)
    })

  async function startDying(killed: KilledStore): Promise<TestPlatform> {
    const platform = await openTestPlatform({
      start: false,
      secrets,
      openEntities: () => Promise.resolve(killed.store),
    })
    killed.arm()
    return platform
  }

  /** What the audit log says was done is what the rule engine hears of, and what was made is there. */
  async function assertAllOrNone({ services, tenantId }: TestPlatform): Promise<void> {
    const page = { pageSize: 10_000, page: 0 }
    const { data } = await services.audit.page(
      { tenantId, startTime: 0, endTime: Number.MAX_SAFE_INTEGER, actionTypes: [] },
      page,
    )
    const done = data.filter(({ actionStatus }) => actionStatus === 'SUCCESS')
    const audited = done.map(({ actionType, entity }) => `${actionType} ${entity.id}`)
    const messages = (await store.outbox.after(0, 10_000)).map(({ message }) => message)
    const told = messages.map(({ type, originator }) => `${actionOf(type as 'ENTITY_CREATED') ?? ''} ${originator.id}`)
    const ofRelations = (text: string): boolean => text.startsWith('RELATION')
    assert.deepEqual(
      audited.filter((text) => !ofRelations(text)).toSorted(),
      told.filter((text) => !ofRelations(text)).toSorted(),
    )
    assert.equal(audited.some(ofRelations), told.some(ofRelations))
    const gone = new Set(done.filter(({ actionType }) => actionType === 'DELETED').map(({ entity }) => entity.id))
    for (const { actionType, entity } of done) {
      if (actionType !== 'ADDED' || services.declared.ofType(entity.entityType) === undefined) continue
      const isThere = (await services.declared.findAnywhere(entity)) !== undefined
      assert.equal(isThere, !gone.has(entity.id), `${entity.entityType} ${entity.id}`)
    }
  }

  test('an import of a file goes on: each line is there once, and what is told of it is right', async () => {
    const pieces = piecesOf(3, 4)
    let run = 0
    await atEveryStep(store, async (killed) => {
      const prefix = `import ${++run}`
      const dying = await startDying(killed)
      const errorFile = new Set<number>()
      await importAll(dying, prefix, pieces, errorFile).catch(() => undefined)
      await dying.close()
      const platform = await start(store)
      const told = await importAll(platform, prefix, pieces, errorFile)
      assert.deepEqual([told.created, told.updated, told.errors], [9, 0, 3], `${prefix}`)
      assert.deepEqual(
        [...errorFile].toSorted((a, b) => a - b),
        [2, 6, 10],
      )
      const found = await platform.services.declared
        .of(devices)
        .page(platform.tenantId, {}, { pageSize: 100, page: 0, textSearch: prefix })
      assert.deepEqual(
        found.data.map(({ record }) => [record.name, record.version]).toSorted(),
        [1, 3, 4, 5, 7, 8, 9, 11, 12].map((line) => [`${prefix} line ${line}`, 1]).toSorted(),
      )
      await assertAllOrNone(platform)
      await platform.close()
    })
  })
}

type Pieces = readonly {
  readonly from: number
  readonly to: number
  readonly firstLine: number
  readonly count: number
}[]

function piecesOf(pieces: number, lines: number): Pieces {
  return Array.from({ length: pieces }, (_, index) => ({
    ...{ from: index * 10, to: (index + 1) * 10 },
    ...{ firstLine: index * lines + 1, count: lines },
  }))
}

/** As the command does it: asks where it is, and goes on there. Lines 2, 6 and 10 have no name. */
async function importAll(
  { services, tenant }: TestPlatform,
  name: string,
  pieces: Pieces,
  errorFile: Set<number>,
): Promise<FilePosition> {
  const write = (lines: readonly string[]) => {
    for (const line of lines) errorFile.add(Number(/^Line (\d+)/.exec(line)?.[1]))
  }
  let position = await services.fileImport.position(tenant, name)
  write(position.errorsList)
  for (const { from, to, firstLine, count } of pieces) {
    if (to <= position.position) continue
    const lines = Array.from({ length: count }, (_, index) => firstLine + index)
    const file = lines.map((line) => `${line % 4 === 2 ? '' : `${name} line ${line}`},1`).join('\n')
    const columns = [{ type: 'NAME' }, { type: 'SERVER_ATTRIBUTE', key: 'k' }]
    const of: Pick<FilePiece, 'type' | 'delimiter' | 'update'> = { type: 'DEVICE', delimiter: ',', update: false }
    position = await services.fileImport.take(tenant, { ...of, name, from, to, firstLine, file, columns })
    write(position.errorsList)
  }
  return position
}

describe('SQLite', () => {
  let folder = ''
  testKills(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'millrace-kills-'))
    const file = path.join(folder, 'entities.db')
    return openEntityStore({ file, durability: 'process-death', clock, tables: DECLARED_TABLES })
  })
  after(() => rm(folder, { recursive: true, force: true }))
})

if (server !== undefined)
  describe('PostgreSQL', () => {
    testKills(async () => {
      const url = await emptyDatabase(server)
      return openPostgresEntityStore({ url, applicationName: 'test', clock, tables: DECLARED_TABLES })
    })
  })
