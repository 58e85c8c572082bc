/** Events on both databases: found by each member of the filters, by time, of the own tenant alone; and how they go. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, mock, test } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import type { EventBody, EventType } from '../../model/event.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { openTestPlatform, testRandom, type TestPlatform } from '../testkit.ts'
import { NotedChainEvents } from './chain-events.ts'
import { eventFilter } from './event-filters.ts'
import { DEFAULT_EVENT_WRITER_SETTINGS, EventWriter } from './event-writer.ts'
import { Events } from './events.ts'

const PAGE = { page: 0, pageSize: 100, sortProperty: 'createdTime' } as const
const ALWAYS = { startTime: undefined, endTime: undefined }
const ID = '11111111-1111-4111-8111-111111111111'

const BODIES: Readonly<Record<EventType, readonly EventBody[]>> = {
  ERROR: [
    { method: 'onRuleChainMsg', error: 'it broke' },
    { method: 'other', error: 'nothing of it' },
  ],
  LC_EVENT: [
    { event: 'STARTED', success: true },
    { event: 'UPDATED', success: false, error: 'It Broke' },
  ],
  STATS: [
    { messagesProcessed: 5, errorsOccurred: 0 },
    { messagesProcessed: 50, errorsOccurred: 3 },
  ],
  DEBUG_RULE_NODE: [
    {
      ...{ type: 'IN', entityId: ID, entityType: 'DEVICE', msgId: 'm1', msgType: 'T1', dataType: 'JSON' },
      ...{ data: '{"Temperature":1}', metadata: '{"deviceName":"A"}' },
    },
    {
      ...{ type: 'OUT', entityId: randomUUID(), entityType: 'ASSET', msgId: 'm2', msgType: 'T2', dataType: 'JSON' },
      ...{ relationType: 'Failure', data: '{}', metadata: '{}', error: 'it broke' },
    },
  ],
  DEBUG_RULE_CHAIN: [{ message: 'Reached the limit' }, { message: 'other', error: 'it broke' }],
  DEBUG_CALCULATED_FIELD: [
    {
      ...{ calculatedFieldId: ID, entityId: ID, entityType: 'DEVICE', msgId: 'm1', msgType: 'T1' },
      arguments: '{"a":1}',
      result: '2',
    },
    {
      ...{ calculatedFieldId: ID, entityId: randomUUID(), entityType: 'ASSET', msgId: 'm2', msgType: 'T2' },
      error: 'it broke',
    },
  ],
}

/** Filters that let the first through, and those that let the second through. */
const FILTERS: Readonly<Record<EventType, readonly [readonly object[], readonly object[]]>> = {
  ERROR: [[{ method: 'RULECHAIN' }, { errorStr: 'BROKE' }], [{ method: 'other' }]],
  LC_EVENT: [
    [{ event: 'start' }, { status: 'Success' }],
    [{ status: 'Failure' }, { errorStr: 'broke' }],
  ],
  STATS: [
    [{ maxMessagesProcessed: 50 }, { maxErrorsOccurred: 3 }],
    [{ minMessagesProcessed: 50 }, { minErrorsOccurred: 1 }, { minMessagesProcessed: 6, maxMessagesProcessed: 51 }],
  ],
  DEBUG_RULE_NODE: [
    [
      ...[{ msgDirectionType: 'IN' }, { entityId: ID }, { entityType: 'DEVICE' }, { msgId: 'm1' }, { msgType: 'T1' }],
      ...[{ dataSearch: 'temperature' }, { metadataSearch: 'DEVICENAME' }],
    ],
    [
      { relationType: 'Failure' },
      { isError: true },
      { isError: 'true' },
      { errorStr: 'BROKE', msgDirectionType: 'OUT' },
    ],
  ],
  DEBUG_RULE_CHAIN: [[{ message: 'reached' }], [{ isError: true }, { errorStr: 'broke' }]],
  DEBUG_CALCULATED_FIELD: [
    [
      { entityId: ID },
      { entityType: 'DEVICE' },
      { msgId: 'm1' },
      { msgType: 'T1' },
      { arguments: '"a"' },
      { result: '2' },
    ],
    [{ isError: true }, { errorStr: 'broke' }],
  ],
}

await onBothDatabases('events ', testAll)

function testAll(open: () => Promise<TestPlatform>): void {
  let platform: TestPlatform
  before(async () => {
    platform = await open()
  })
  after(() => platform.close())

  for (const [type, bodies] of Object.entries(BODIES) as [EventType, readonly EventBody[]][]) {
    test(`of ${type} are found by each member of the filter`, async () => {
      const { events } = platform.services
      const { tenantId } = platform
      const entity = entityId('RULE_NODE', randomUUID())
      for (const body of bodies) {
        events.writer.add({ type, tenantId, entity, body })
        platform.clock.time += 1_000
      }
      const all = await events.page(tenantId, entity, type, ALWAYS, PAGE)
      assert.deepEqual(
        all.data.map(({ body }) => body),
        bodies,
      )
      const [first, second] = all.data
      assert.ok(first !== undefined && second !== undefined)
      const found = async (filter: object) => {
        const parsed = eventFilter.parse({ eventType: type, server: 'sole', ...filter })
        return (await events.page(tenantId, entity, parsed, ALWAYS, PAGE)).data.map(({ id }) => id)
      }
      const [ofFirst, ofSecond] = FILTERS[type]
      for (const filter of ofFirst) assert.deepEqual(await found(filter), [first.id], JSON.stringify(filter))
      for (const filter of ofSecond) assert.deepEqual(await found(filter), [second.id], JSON.stringify(filter))
      assert.deepEqual(await found({ server: 'another' }), [])
      assert.deepEqual(await found({ isError: false, errorStr: null, notEmpty: true }), [first.id, second.id])
      const from = { startTime: second.createdTime, endTime: undefined }
      assert.deepEqual((await events.page(tenantId, entity, type, from, PAGE)).data, [second])
      const page = { ...PAGE, pageSize: 1, sortProperty: 'ts', sortOrder: 'DESC' } as const
      const newest = await events.page(tenantId, entity, type, ALWAYS, page)
      assert.deepEqual([newest.data, newest.totalElements, newest.hasNext], [[second], 2, true])
      assert.deepEqual((await events.page(randomUUID(), entity, type, ALWAYS, PAGE)).data, [])
      assert.deepEqual((await events.page(tenantId, entityId('RULE_NODE', randomUUID()), type, ALWAYS, PAGE)).data, [])
      await events.clear(randomUUID(), entity, eventFilter.parse({ eventType: type }), ALWAYS)
      await events.clear(tenantId, entity, eventFilter.parse({ eventType: type }), from)
      assert.deepEqual((await events.page(tenantId, entity, type, ALWAYS, PAGE)).data, [first])
    })
  }

  test('go when they are old, the oldest when there are too many, and with their chain', async () => {
    const { services, entities, clock, tenantId, tenant, reports } = platform
    const report = (text: string): void => void reports.push(text)
    const settings = { ttlMs: 0, debugTtlMs: 10_000, maxRowsPerTenant: 3 }
    const events = new Events({ entities, clock, report, settings, writer: services.events.writer })
    const chain = await services.ruleChains.saveByUser(tenant, { name: 'watched' })
    const entity = entityId('RULE_CHAIN', chain.id)
    const count = async (type: EventType) => (await events.page(tenantId, entity, type, ALWAYS, PAGE)).totalElements
    for (let number = 0; number < 5; number++) {
      services.events.writer.add({ type: 'LC_EVENT', tenantId, entity, body: { event: `${number}`, success: true } })
      services.events.writer.add({ type: 'DEBUG_RULE_CHAIN', tenantId, entity, body: { message: `${number}` } })
      clock.time += 4_000
    }
    await services.events.writer.flush()
    while (await events.cleanUp());
    const left = (await events.page(tenantId, entity, 'LC_EVENT', ALWAYS, PAGE)).data.map(({ body }) => body['event'])
    assert.deepEqual(left, ['2', '3', '4'])
    assert.equal(await count('DEBUG_RULE_CHAIN'), 2)
    // Who wrote nothing since is not counted again.
    const counted = mock.method(entities.events, 'countByTenant')
    assert.equal(await events.cleanUp(), false)
    assert.equal(counted.mock.callCount(), 0)
    services.events.writer.add({ type: 'LC_EVENT', tenantId, entity, body: { event: '5', success: true } })
    await services.events.writer.flush()
    while (await events.cleanUp());
    assert.deepEqual(counted.mock.calls[0]?.arguments, ['LC_EVENT', [tenantId]])
    counted.mock.restore()
    assert.equal(await count('LC_EVENT'), 3)
    await services.ruleChains.deleteByUser(tenant, chain.id)
    assert.deepEqual([await count('LC_EVENT'), await count('DEBUG_RULE_CHAIN')], [0, 0])
  })
}

describe('the writer of events', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await openTestPlatform()
  })
  after(() => platform.close())

  const writerWith = (settings: Partial<typeof DEFAULT_EVENT_WRITER_SETTINGS>) => {
    const { entities, clock, reports } = platform
    const report = (text: string): void => void reports.push(text)
    const parts = { entities, clock, random: testRandom, report, server: 'here' }
    return new EventWriter({ ...parts, settings: { ...DEFAULT_EVENT_WRITER_SETTINGS, ...settings } })
  }
  const entity = entityId('RULE_NODE', randomUUID())
  const event = (tenantId: string, text = 'x') =>
    ({ type: 'DEBUG_RULE_NODE', tenantId, entity, body: { type: 'IN', data: text } }) as const

  test('drops and counts what has no room, and leaves other tenants theirs', async () => {
    const writer = writerWith({ maxWaitingBytes: 20_000, tenantPart: 0.5 })
    for (let number = 0; number < 100; number++) writer.add(event('greedy', 'x'.repeat(100)))
    const { droppedForRoom } = writer.figures()
    assert.ok(droppedForRoom > 70 && droppedForRoom < 95)
    writer.add(event('modest'))
    assert.equal(writer.figures().droppedForRoom, droppedForRoom)
    await writer.flush()
    assert.deepEqual(writer.figures().waitingBytes, 0)
    assert.equal(writer.figures().written, 101 - droppedForRoom)
    writer.add(event('greedy'))
    assert.equal(writer.figures().droppedForRoom, droppedForRoom)
    await writer.close()
  })

  test('says once that a tenant has more debug events than the hour allows', async () => {
    const tenantId = randomUUID()
    const writer = writerWith({ debugEvents: 2 })
    for (let number = 0; number < 5; number++) writer.add(event(tenantId))
    await writer.flush()
    const { events } = platform.entities
    const of = async (type: EventType) =>
      events.page({ type, tenantId, entityId: entity.id, startTime: 0, endTime: 1e15, where: [] }, PAGE)
    assert.equal((await of('DEBUG_RULE_NODE')).totalElements, 2)
    const told = (await of('DEBUG_RULE_CHAIN')).data.map(({ body }) => body['message'])
    assert.deepEqual(told, ['Reached debug mode rate limit: 2 events in 3600 s'])
    platform.clock.time += 3_600_000
    writer.add(event(tenantId))
    await writer.close()
    assert.equal((await of('DEBUG_RULE_NODE')).totalElements, 3)
    assert.equal(writer.figures().droppedForRate, 3)
  })

  test('says once at a calculated field that there are more of those, and counts them apart from those of nodes', async () => {
    const tenantId = randomUUID()
    const field = entityId('CALCULATED_FIELD', randomUUID())
    const writer = writerWith({ debugEvents: 2 })
    const calculated = { type: 'DEBUG_CALCULATED_FIELD', tenantId, entity: field, body: { result: '1' } } as const
    for (let number = 0; number < 5; number++) writer.add(calculated)
    writer.add(event(tenantId))
    await writer.close()
    const search = { tenantId, startTime: 0, endTime: 1e15, where: [] }
    const { events } = platform.entities
    const told = await events.page({ ...search, type: 'DEBUG_CALCULATED_FIELD', entityId: field.id }, PAGE)
    assert.deepEqual(
      told.data.map(({ body }) => body['error'] ?? body['result']),
      ['1', '1', 'Reached debug mode rate limit: 2 events in 3600 s'],
    )
    assert.equal(
      (await events.page({ ...search, type: 'DEBUG_RULE_NODE', entityId: entity.id }, PAGE)).totalElements,
      1,
    )
    assert.equal(writer.figures().droppedForRate, 3)
  })

  test('cuts long texts, and goes on where the store refuses', async () => {
    const tenantId = randomUUID()
    const writer = writerWith({ maxText: 10 })
    writer.add(event(tenantId, 'y'.repeat(25)))
    await writer.flush()
    const { events } = platform.entities
    const search = {
      type: 'DEBUG_RULE_NODE',
      tenantId,
      entityId: entity.id,
      startTime: 0,
      endTime: 1e15,
      where: [],
    } as const
    const [stored] = (await events.page(search, PAGE)).data
    assert.equal(stored?.body['data'], `${'y'.repeat(10)}...[truncated 15 symbols]`)
    const refusing = new EventWriter({
      ...{ clock: platform.clock, random: testRandom, report: () => undefined, server: 'here' },
      entities: { events: { add: () => Promise.reject(new Error('full')) } as never },
      settings: DEFAULT_EVENT_WRITER_SETTINGS,
    })
    refusing.add(event(tenantId))
    await refusing.close()
    assert.deepEqual([refusing.figures().droppedByStore, refusing.figures().waitingBytes], [1, 0])
  })
})

test('statistics are what went through since the last time, and failures of one entity are bounded', () => {
  const added: unknown[] = []
  const clock = { now: () => time } as never
  let time = 0
  const events = new NotedChainEvents(
    { add: (event) => void added.push([event.type, event.entity.id, event.body]) },
    clock,
    () => undefined,
  )
  const figures = (received: number, failed: number) => {
    const node = { ruleNodeId: 'node', name: '', type: '', received, failed, timedOut: 0, late: 0, busyMs: 0 }
    return [{ ruleChainId: 'chain', tenantId: 't', name: '', inFlight: 0, dropped: 0, nodes: [node] }]
  }
  events.statistics(figures(5, 1))
  events.statistics(figures(5, 1))
  events.statistics(figures(8, 1))
  const body = (messagesProcessed: number, errorsOccurred: number) => ({ messagesProcessed, errorsOccurred })
  assert.deepEqual(added.splice(0), [
    ['STATS', 'node', body(5, 1)],
    ['STATS', 'chain', body(5, 1)],
    ['STATS', 'node', body(3, 0)],
    ['STATS', 'chain', body(3, 0)],
  ])
  for (time of [1, 2, 3_002]) events.failed('t', entityId('RULE_NODE', 'n'), 'm', `${time}`)
  assert.deepEqual(added, [
    ['ERROR', 'n', { method: 'm', error: '1' }],
    ['ERROR', 'n', { method: 'm', error: '3002' }],
  ])
})
