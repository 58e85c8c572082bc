/** Random queries over more entities than are read row by row, against a plain evaluation of the same in memory, on both databases. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { AskedFilter, AskedPredicate, EntityDataQuery, EntityKey, KeyPredicate } from '../../model/entity-query.ts'
import { valueText } from '../../model/entry-json.ts'
import type { Entry, TypedValue } from '../../model/value.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { PointsWrite } from '../../storage/timeseries/store.ts'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { customers } from '../entities/customer.ts'
import { deviceProfiles, newDeviceProfile } from '../entities/device-profile.ts'
import { devices } from '../entities/device.ts'
import { recordWith, rowsOf } from '../entities/rows.ts'
import { DEMO_DEVICE_NAME } from '../seed.ts'
import type { TestPlatform } from '../testkit.ts'
import { comparedField, comparedValue, matches } from './predicates.ts'

/** Over 1,000, from which SQLite's rows come as one text. */
const ENTITIES = 1_020
/** Of another type, with the same attributes: no query asks for them. */
const OTHERS = 200
const QUERIES = 100
const PAGE_SIZE = 60

interface Known {
  readonly id: string
  readonly fields: Readonly<Record<string, string | number | null>>
  /** By type and key. */
  readonly values: ReadonlyMap<string, TypedValue>
}

/** A number that nearly all have: filters by it match any share of them. */
const LEVEL: EntityKey = { type: 'SERVER_ATTRIBUTE', key: 'level' }
const LATEST_LEVEL: EntityKey = { type: 'TIME_SERIES', key: 'level' }
const KEYS: readonly EntityKey[] = [
  { type: 'SERVER_ATTRIBUTE', key: 'a' },
  { type: 'SHARED_ATTRIBUTE', key: 'a' },
  { type: 'ATTRIBUTE', key: 'a' },
  { type: 'SERVER_ATTRIBUTE', key: 'b' },
  LEVEL,
  { type: 'TIME_SERIES', key: 'a' },
  { type: 'TIME_SERIES', key: 'b' },
  LATEST_LEVEL,
]
const FIELDS = ['name', 'label', 'createdTime', 'ownerName', 'type'] as const
const LONG_TEXT = 'x'.repeat(64)
const TEXTS = [
  ...['Alpha', 'alphabet', 'Beta 7', 'É*[x]', '\u212aelvin', 'ISTANBUL \u0130', 'a_b', '5', '', '\u{e000}'],
  ...[`${LONG_TEXT}al`, `${LONG_TEXT}É`],
]
const NUMBERS = [0, 5, 5.5, -3.25, 0.1 + 0.2, 1e-9, 0.001, 9_999_999.5, 1e7, 1e21, 123_456_789.125, 1 / 3]
const LONGS = [0, 5, -3, 7, 1_000, 9_007_199_254_740_993n, -9_007_199_254_740_995n]

await onBothDatabases('random queries ', testRandomQueries)

function testRandomQueries(open: () => Promise<TestPlatform>): void {
  const random = seededRandom()
  const pick = <Item>(items: readonly Item[]): Item => random.pick(items)
  const below = (limit: number) => random.between(0, limit - 1)
  const chance = (share: number) => random.next() < share
  let platform: TestPlatform
  const known: Known[] = []

  before(async () => {
    platform = await open()
    const { entities, services, tenantId, timeSeries } = platform
    const profile = await services.declared.of(deviceProfiles).findBy(tenantId, { default: true })
    assert.ok(profile !== undefined)
    const other = newDeviceProfile({ id: randomUUID(), createdTime: 1, tenantId, name: 'other', default: false })
    await entities.write([rowsOf(deviceProfiles, entities).insert(deviceProfiles.rowOf(other))])
    const identity = (createdTime: number) => ({ id: randomUUID(), createdTime, version: 1, tenantId })
    // One is called as the tenant is.
    const owners = ['Ada', 'Zoe', 'Tenant'].map((title) => recordWith(customers, identity(1), { title }))
    await entities.write(owners.map((owner) => rowsOf(customers, entities).insert(customers.rowOf(owner))))
    const rows = Array.from({ length: ENTITIES + OTHERS }, (_, number) => {
      const { id: deviceProfileId, name: type } = number < ENTITIES ? profile : other
      const owner = chance(0.5) ? pick(owners) : undefined
      const device = recordWith(devices, identity(below(50)), {
        ...{ name: `d${number} ${pick(TEXTS)}`, label: chance(0.3) ? null : pick(TEXTS), type },
        ...{ deviceProfileId, customerId: owner?.id ?? null, deviceData: {} },
      })
      return { device, owner: owner?.title ?? 'Tenant' }
    })
    await entities.write([rowsOf(devices, entities).insertAll(rows.map(({ device }) => devices.rowOf(device)))])
    const demo = await services.declared.of(devices).findByName(tenantId, DEMO_DEVICE_NAME)
    assert.ok(demo !== undefined)
    rows.push({ device: demo, owner: 'Customer A' })
    const writes: Parameters<EntityStore['attributes']['save']>[0][number][] = []
    const series: PointsWrite[] = []
    for (const { device, owner } of rows) {
      const values = new Map<string, TypedValue>()
      const { id, name, label, createdTime, type } = device
      if (type !== other.name) known.push({ id, fields: { name, label, createdTime, ownerName: owner, type }, values })
      for (const [place, { type: kind, key }] of KEYS.entries()) {
        if (kind === 'ATTRIBUTE' || chance(0.2)) continue
        const entry: Entry = { key, ...(key === LEVEL.key ? levelOf() : valueOf()) }
        values.set(`${kind} ${key}`, entry)
        if (kind === 'TIME_SERIES') {
          const points = [{ ...entry, ts: 1 }]
          series.push({ entityId: id, points, sequence: 0, ttlSeconds: 0, history: false, latest: true })
          continue
        }
        const scope = kind === 'SERVER_ATTRIBUTE' ? 'SERVER_SCOPE' : 'SHARED_SCOPE'
        // Of several scopes the last written counts: SHARED, which is later here.
        const attribute = { ...entry, lastUpdateTs: place }
        values.set(`ATTRIBUTE ${key}`, entry)
        writes.push({ entityId: id, scope, attribute, sequence: 0 })
      }
    }
    await entities.write([entities.attributes.save(writes)])
    await timeSeries.write(series)
  })
  after(() => platform.close())

  function levelOf(): TypedValue {
    return chance(0.8) ? { type: 'LONG', value: below(100) } : { type: 'DOUBLE', value: below(100) + 0.5 }
  }

  function valueOf(): TypedValue {
    switch (below(5)) {
      case 0:
        return { type: 'LONG', value: pick(LONGS) }
      case 1:
        return { type: 'DOUBLE', value: pick(NUMBERS) }
      case 2:
        return { type: 'BOOLEAN', value: chance(0.5) }
      case 3:
        return { type: 'JSON', value: pick(['{"a":1}', '[5]']) }
      default:
        return { type: 'STRING', value: pick(TEXTS) }
    }
  }

  function predicate(): KeyPredicate {
    switch (below(4)) {
      case 0: {
        const operations = ['EQUAL', 'NOT_EQUAL', 'GREATER', 'LESS', 'GREATER_OR_EQUAL', 'LESS_OR_EQUAL'] as const
        return { type: 'NUMERIC', operation: pick(operations), value: pick([...NUMBERS, -3, 7]) }
      }
      case 1:
        return { type: 'BOOLEAN', operation: pick(['EQUAL', 'NOT_EQUAL'] as const), value: chance(0.5) }
      default: {
        const operations = ['EQUAL', 'NOT_EQUAL', 'STARTS_WITH', 'ENDS_WITH', 'CONTAINS', 'NOT_CONTAINS'] as const
        const value = pick(['Alpha', 'a', 'al', '7', '5', 'É', 'k', 'L _', LONG_TEXT, 'XAL'])
        return { type: 'STRING', operation: pick(operations), value, ignoreCase: chance(0.5) }
      }
    }
  }

  function levelPredicate(): KeyPredicate {
    const operations = ['GREATER', 'LESS', 'GREATER_OR_EQUAL', 'LESS_OR_EQUAL'] as const
    return { type: 'NUMERIC', operation: pick(operations), value: below(100) }
  }

  /** A small page of what one filter matches, or that and another: its ways differ by the order, and by how many match. */
  function smallPage(level: AskedFilter): EntityDataQuery {
    const key = pick<EntityKey>([...FIELDS.map((name) => ({ type: 'ENTITY_FIELD', key: name }) as const), LEVEL, LEVEL])
    const other: AskedFilter = { key: pick(KEYS), predicate: asked(predicate()) }
    const keyFilters = chance(0.8) ? [level] : [level, other]
    return {
      filter: { kind: 'type', entityType: 'DEVICE', name: chance(0.2) ? 'D1' : '', types: ['default'] },
      ...{ keyFilters, operation: pick(['AND', 'OR'] as const), fields: ['name'], latest: [] },
      page: {
        ...{ page: below(5), pageSize: 7, textSearch: undefined, isDynamic: false },
        sort: chance(0.8) ? { key, direction: pick(['ASC', 'DESC'] as const) } : undefined,
      },
    }
  }

  function query(): EntityDataQuery {
    const keys = [...KEYS, ...FIELDS.map((key) => ({ type: 'ENTITY_FIELD', key }) as const)]
    const filters = Array.from({ length: below(3) }, (): AskedFilter => ({
      key: pick(keys),
      predicate: asked(predicate()),
    }))
    const level: AskedFilter = { key: pick([LEVEL, LATEST_LEVEL]), predicate: asked(levelPredicate()) }
    if (chance(0.2)) return smallPage(level)
    if (chance(0.5)) filters.unshift(level)
    const search = chance(0.5)
      ? pick(['al', 'ALPHA', 'tenant', '5.5', 'true', '\u00e9', 'k', 'i', '90071', 'ltal', 'lt5', '5.5al', '.0', 'e'])
      : undefined
    return {
      filter: { kind: 'type', entityType: 'DEVICE', name: chance(0.2) ? 'D1' : '', types: ['default'] },
      keyFilters: filters,
      operation: pick(['AND', 'OR'] as const),
      fields: FIELDS.filter((name) => name !== 'createdTime' && chance(0.5)),
      latest: KEYS.filter(() => chance(0.3)),
      page: {
        ...{ page: below(3), pageSize: pick([7, 400, 2_000]), textSearch: search, isDynamic: false },
        sort: chance(0.8) ? { key: pick(keys), direction: pick(['ASC', 'DESC'] as const) } : undefined,
      },
    }
  }

  async function check(asks: EntityDataQuery, label: string): Promise<void> {
    const { services, tenant } = platform
    const { page, pageSize, sort } = asks.page
    const expected = known.filter((entity) => fits(entity, asks))
    const found = await services.entityQueries.find(tenant, asks)
    assert.equal(found.totalElements, expected.length, label)
    const ordered = expected.toSorted((one, other) => compare(one, other, sort ?? BY_ID))
    assert.deepEqual(
      found.data.map(({ entity }) => entity.id),
      ordered.slice(page * pageSize, (page + 1) * pageSize).map(({ id }) => id),
      label,
    )
  }

  test(`the answers to ${QUERIES} random queries are those of a plain evaluation`, async () => {
    for (let number = 0; number < QUERIES; number++) {
      const asks = query()
      await check(asks, `seed ${random.seed}, query ${number}: ${JSON.stringify(asks)}`)
    }
  })

  test('pages by owner, label and the attribute that is compared are those of a plain evaluation, from the first to the last', async () => {
    const level: AskedFilter = {
      key: LEVEL,
      predicate: asked({ type: 'NUMERIC', operation: 'LESS', value: 90 }),
    }
    // Not indexed, so that the way follows from the level.
    const other: AskedFilter = {
      key: { type: 'SERVER_ATTRIBUTE', key: 'a' },
      predicate: asked({ type: 'STRING', operation: 'CONTAINS', value: 'a', ignoreCase: true }),
    }
    // Indexed too: what both match is found together.
    const least: AskedFilter = {
      key: LEVEL,
      predicate: asked({ type: 'NUMERIC', operation: 'GREATER_OR_EQUAL', value: 20 }),
    }
    for (const key of [...['ownerName', 'label'].map((name) => ({ type: 'ENTITY_FIELD', key: name }) as const), LEVEL])
      for (const direction of ['ASC', 'DESC'] as const)
        for (const keyFilters of [[], [level], [level, other], [level, least]])
          for (let page = 0; page * PAGE_SIZE <= ENTITIES; page++) {
            const { filter, ...asks } = smallPage(level)
            const link = { ...asks.page, page, pageSize: PAGE_SIZE, sort: { key, direction } }
            const whole = {
              ...asks,
              filter: { ...filter, name: '' },
              keyFilters,
              operation: 'AND' as const,
              page: link,
            }
            await check(whole, `seed ${random.seed}: ${JSON.stringify(whole)}`)
          }
  })
}

const BY_ID = { key: { type: 'ENTITY_FIELD', key: 'id' }, direction: 'ASC' } as const
type Sort = NonNullable<EntityDataQuery['page']['sort']> | typeof BY_ID

function fits(entity: Known, { keyFilters, operation, filter, page, fields, latest }: EntityDataQuery): boolean {
  if (filter.kind === 'type' && !String(entity.fields['name']).toLowerCase().startsWith(filter.name.toLowerCase()))
    return false
  const held = keyFilters.map(({ key, predicate }) => matches(plainOf(predicate), comparedOf(entity, key)))
  if (held.length > 0 && !(operation === 'AND' ? held.every(Boolean) : held.some(Boolean))) return false
  if (page.textSearch === undefined) return true
  const shown = [
    ...latest.filter(({ type }) => type !== 'TIME_SERIES'),
    ...latest.filter(({ type }) => type === 'TIME_SERIES'),
  ]
  const texts = [
    ...fields.map((name) => String(entity.fields[name] ?? '')),
    ...shown.map((key) => {
      const value = valueAt(entity, key)
      return value === undefined ? '' : valueText(value)
    }),
  ]
  return texts.length > 0 && texts.join('').toLowerCase().includes(page.textSearch.toLowerCase())
}

function valueAt(entity: Known, { type, key }: EntityKey): TypedValue | undefined {
  return entity.values.get(`${type} ${key}`)
}

function comparedOf(entity: Known, key: EntityKey) {
  if (key.type === 'ENTITY_FIELD') return comparedField(entity.fields[key.key] ?? null)
  const value = valueAt(entity, key)
  return value && comparedValue(value)
}

/** Numbers and flags first, then texts; what has none comes last ascending by number, first ascending by text; ties by id. */
function compare(one: Known, other: Known, { key, direction }: Sort): number {
  const sign = direction === 'DESC' ? -1 : 1
  const [a, b] = [partsOf(one, key), partsOf(other, key)]
  if (a.number !== b.number) {
    if (a.number === null) return sign
    if (b.number === null) return -sign
    return a.number < b.number ? -sign : sign
  }
  if (a.text !== b.text) return byCodePoints(a.text, b.text) * sign
  return one.id < other.id ? -sign : sign
}

function partsOf(entity: Known, key: Sort['key']): { readonly number: number | null; readonly text: string } {
  if (key.type === 'ENTITY_FIELD') {
    const field = entity.fields[key.key] ?? ''
    return typeof field === 'number' ? { number: field, text: '' } : { number: null, text: field }
  }
  const value = valueAt(entity, key)
  if (value === undefined) return { number: null, text: '' }
  if (typeof value.value === 'string') return { number: null, text: value.value }
  return { number: Number(value.value), text: '' }
}

function byCodePoints(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

function plainOf(predicate: AskedPredicate): KeyPredicate {
  if (predicate.type === 'COMPLEX') return { ...predicate, predicates: predicate.predicates.map(plainOf) }
  return { ...predicate, value: predicate.value.defaultValue } as KeyPredicate
}

function asked(predicate: KeyPredicate): AskedPredicate {
  if (predicate.type === 'COMPLEX') return { ...predicate, predicates: predicate.predicates.map(asked) }
  const value = { defaultValue: predicate.value, userValue: undefined, dynamicValue: undefined }
  return { ...predicate, value } as AskedPredicate
}
