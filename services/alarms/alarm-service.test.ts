/** Alarms over real stores, on both databases. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { isJsonObject, parseJson, type JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { assets } from '../entities/asset.ts'
import { customers } from '../entities/customer.ts'
import { users } from '../entities/user.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import type { TestPlatform } from '../testkit.ts'
import { DEFAULT_LIMITS } from '../entities/tenant-limits.ts'
import { AlarmExpiry } from './alarm-expiry.ts'
import type { AlarmService, UserAlarmDraft } from './alarm-service.ts'

const PAGE = { page: 0, pageSize: 10 }

await onBothDatabases('alarms ', testAlarms)

function testAlarms(open: () => Promise<TestPlatform>): void {
  let platform: TestPlatform
  let service: AlarmService
  let tenant: Principal
  let made = 0

  before(async () => {
    platform = await open()
    service = platform.services.alarms
    tenant = platform.tenant
  })
  after(() => platform.close())

  async function newAsset(customerId?: string): Promise<EntityId> {
    const draft = { name: `asset ${++made}`, ...(customerId === undefined ? {} : { customerId }) }
    const { id } = await platform.services.declared.of(assets).saveByUser(tenant, draft)
    return entityId('ASSET', id)
  }

  const draftOf = (originator: EntityId, members: Partial<UserAlarmDraft> = {}): UserAlarmDraft => ({
    originator,
    type: 'Hot',
    severity: 'MAJOR',
    ...members,
  })
  const typesOn = async ({ id }: EntityId) =>
    (await service.page({ tenantId: platform.tenantId, entityId: id }, PAGE)).data.map(({ type }) => type)
  const messagesAbout = ({ id }: EntityId) =>
    platform.link.messages.filter(
      ({ originator, metadata }) => originator.id === id && metadata['entityName'] === 'Hot',
    )

  test('a second save of the same originator and type changes the active alarm, after a clear it makes a new one', async () => {
    const originator = await newAsset()
    const first = await service.saveByUser(tenant, draftOf(originator, { startTs: 5 }))
    platform.clock.time += 10
    const second = await service.saveByUser(tenant, draftOf(originator, { severity: 'CRITICAL' }))
    assert.deepEqual([second.id, second.severity, second.startTs], [first.id, 'CRITICAL', platform.clock.now()])
    await service.clearByUser(tenant, first.id)
    const third = await service.saveByUser(tenant, draftOf(originator))
    assert.notEqual(third.id, first.id)
  })

  test('saves that meet leave one active alarm', async () => {
    const originator = await newAsset()
    const saved = await Promise.all(
      [1, 2, 3, 4].map((startTs) => service.saveByUser(tenant, draftOf(originator, { startTs }))),
    )
    assert.equal(new Set(saved.map(({ id }) => id)).size, 1)
    assert.deepEqual(await typesOn(originator), ['Hot'])
  })

  test('tells the rule engine in the words of the reference, about the originator', async () => {
    const originator = await newAsset()
    const { id } = await service.saveByUser(tenant, draftOf(originator))
    await service.saveByUser(tenant, draftOf(originator, { severity: 'MINOR' }))
    await service.ackByUser(tenant, id)
    await service.assignByUser(tenant, id, tenant.userId)
    await service.assignByUser(tenant, id, null)
    await service.saveCommentByUser(tenant, id, { comment: { text: 'seen' } })
    await service.clearByUser(tenant, id)
    await service.deleteByUser(tenant, id)
    const messages = messagesAbout(originator)
    assert.deepEqual(
      messages.map(({ type }) => type),
      [
        'ENTITY_CREATED',
        'ENTITY_UPDATED',
        'ALARM_ACK',
        'ALARM_ASSIGNED',
        'ALARM_UNASSIGNED',
        'COMMENT_CREATED',
        'ALARM_CLEAR',
        'ALARM_DELETE',
      ],
    )
    const bodies = messages.map(({ data }) => parseJson(data) as JsonObject)
    assert.equal(bodies[0]?.['originatorName'], `asset ${made}`)
    assert.equal(bodies.at(-1)?.['originatorName'], undefined)
    assert.equal(messages[0]?.metadata['entityType'], 'ASSET')
  })

  test('notes among the comments what was done, and keeps a note of a deleted comment', async () => {
    const { id } = await service.saveByUser(tenant, draftOf(await newAsset()))
    await service.ackByUser(tenant, id)
    platform.clock.time += 1
    const comment = await service.saveCommentByUser(tenant, id, { comment: { text: 'seen' } })
    const other = { ...tenant, userId: platform.customer.userId }
    const byOther = service.saveCommentByUser(other, id, { id: comment.id, comment: { text: 'no' } })
    await assert.rejects(byOther, { code: 'alarm.COMMENT_OF_OTHER' })
    await service.deleteCommentByUser(tenant, id, comment.id)
    await assert.rejects(service.deleteCommentByUser(tenant, id, comment.id), { code: 'alarm.COMMENT_OF_SYSTEM' })
    const { data } = await service.pageOfComments(id, { ...PAGE, sortProperty: 'createdTime' })
    assert.deepEqual(
      data.map(({ type, comment: said }) => [type, (said as JsonObject)['subtype']]),
      [
        ['SYSTEM', 'ACKED_BY_USER'],
        ['SYSTEM', 'COMMENT_DELETED'],
      ],
    )
    const { data: rows } = await platform.services.audit.page(
      { tenantId: platform.tenantId, startTime: 0, endTime: platform.clock.now(), actionTypes: ['DELETED_COMMENT'] },
      PAGE,
    )
    assert.equal(rows.length, 1)
    const named = await platform.services.declared.of(assets).findAnywhere(rows[0]?.entity.id ?? '')
    assert.equal(rows[0]?.entityName, named?.name, 'the row is of the originator')
    const elsewhere = await service.saveByUser(tenant, draftOf(await newAsset()))
    const foreign = service.deleteCommentByUser(tenant, elsewhere.id, comment.id)
    await assert.rejects(foreign, { status: 400, message: 'Alarm id does not match with comment alarm id' })
    const nobody = '11111111-2222-4333-8444-555555555555'
    const unknown = service.deleteCommentByUser(tenant, id, nobody)
    await assert.rejects(unknown, { status: 404, message: `Alarm comment with id [${nobody}] is not found` })
    const changing = (commentId: string) =>
      service.saveCommentByUser(tenant, id, { id: commentId, comment: { text: 'other' } })
    await assert.rejects(changing(nobody), { status: 400, message: "Can't update non existing alarm comment!" })
    await assert.rejects(changing(comment.id), { status: 400, message: "System alarm comment can't be updated!" })
  })

  for (const who of ['user', 'customer'] as const)
    test(`is nobody’s, with a note and a message, when the ${who} goes who had it`, async () => {
      const { declared } = platform.services
      const customer = await declared.of(customers).saveByUser(tenant, { title: `leaving ${++made}` })
      const draft = {
        email: `leaving-${made}@example.org`,
        authority: 'CUSTOMER_USER',
        customerId: customer.id,
      } as const
      const user = await declared.of(users).saveByUser(tenant, { ...draft, firstName: 'Jo', lastName: 'Leaving' })
      const originator = await newAsset(customer.id)
      const { id } = await service.saveByUser(tenant, draftOf(originator))
      await service.assignByUser(tenant, id, user.id)
      platform.clock.time += 1
      platform.changes.length = 0
      const gone = who === 'user' ? declared.of(users) : declared.of(customers)
      await gone.deleteByUser(tenant, who === 'user' ? user.id : customer.id)
      const { assigneeId, assignTs, customerId } = await service.get(id)
      assert.deepEqual([assigneeId, assignTs], [null, platform.clock.now()])
      // As its originator, which belongs to nobody then.
      assert.equal(customerId, who === 'user' ? customer.id : null)
      const { data } = await service.pageOfComments(id, { ...PAGE, sortProperty: 'createdTime', sortOrder: 'DESC' })
      assert.deepEqual(data[0]?.['comment'], {
        text: 'Alarm was unassigned because user Jo Leaving - was deleted',
        subtype: 'UNASSIGNED_FROM_DELETED_USER',
        userName: 'Jo Leaving',
      })
      assert.equal(messagesAbout(originator).at(-1)?.type, 'ALARM_UNASSIGNED')
      assert.ok(platform.changes.some((change) => change.kind === 'alarm' && change.alarmId === id))
      await service.deleteByUser(tenant, id)
    })

  async function newUser() {
    const email = `going-${++made}@example.org`
    return platform.services.declared.of(users).saveByUser(tenant, { email, authority: 'TENANT_ADMIN' })
  }

  test('does not keep who has it from going, however often it changes meanwhile', async (context) => {
    const { declared } = platform.services
    const user = await newUser()
    const originator = await newAsset()
    const { id } = await service.saveByUser(tenant, draftOf(originator))
    await service.assignByUser(tenant, id, user.id)
    let changed = 0
    const unassignedWith = service.unassignedWith.bind(service)
    context.mock.method(service, 'unassignedWith', async (...asked: Parameters<typeof unassignedWith>) => {
      const changes = await unassignedWith(...asked)
      await service.createOrUpdate(platform.tenantId, draftOf(originator, { details: { changed: ++changed } }))
      return changes
    })
    await declared.of(users).deleteByUser(tenant, user.id)
    const { assigneeId, details } = await service.get(id)
    assert.deepEqual([assigneeId, details], [null, { changed: 1 }])
    await service.deleteByUser(tenant, id)
  })

  test('is nobody’s without a word where those who had it had more than can be told at once', async () => {
    const { declared } = platform.services
    const user = await newUser()
    const ids: string[] = []
    const details = { text: 'x'.repeat(2 ** 20) }
    for (let count = 0; count < 6; count++) {
      const { id } = await service.saveByUser(tenant, draftOf(await newAsset(), { details }))
      await service.assignByUser(tenant, id, user.id)
      ids.push(id)
    }
    await declared.of(users).deleteByUser(tenant, user.id)
    let told = 0
    for (const id of ids) {
      assert.equal((await service.get(id)).assigneeId, null)
      const { data } = await service.pageOfComments(id, PAGE)
      told += data.filter(
        ({ comment }) => isJsonObject(comment) && comment['subtype'] === 'UNASSIGNED_FROM_DELETED_USER',
      ).length
    }
    assert.equal(told, 4)
    for (const id of ids) await service.deleteByUser(tenant, id)
  })

  test('shows on what it propagates to, and tells each of them', async () => {
    const customer = await platform.services.declared.of(customers).saveByUser(tenant, { title: `customer ${++made}` })
    const [above, top, aside] = [await newAsset(), await newAsset(), await newAsset()]
    const originator = await newAsset(customer.id)
    const relate = (from: EntityId, to: EntityId, type: string) =>
      platform.services.relations.saveByUser(tenant, { from, to, type, typeGroup: 'COMMON', additionalInfo: null })
    await relate(above, originator, 'Contains')
    await relate(top, above, 'Contains')
    await relate(originator, top, 'Contains')
    await relate(aside, originator, 'Manages')
    platform.changes.length = 0
    const alarm = await service.saveByUser(
      tenant,
      draftOf(originator, { propagate: true, propagateRelationTypes: ['Contains'], propagateToOwner: true }),
    )
    const owner = entityId('CUSTOMER', customer.id)
    for (const entity of [originator, above, top, owner]) assert.deepEqual(await typesOn(entity), ['Hot'])
    for (const entity of [aside, entityId('TENANT', platform.tenantId)]) assert.deepEqual(await typesOn(entity), [])
    const told = platform.changes.flatMap((change) => (change.kind === 'alarm' ? [change.entity.id] : []))
    assert.deepEqual(told.toSorted(), [originator, above, top, owner].map(({ id }) => id).toSorted())
    await service.saveByUser(tenant, draftOf(originator, { propagateToTenant: true }))
    assert.deepEqual(await typesOn(above), [])
    assert.deepEqual(await typesOn(entityId('TENANT', platform.tenantId)), ['Hot'])
    assert.equal((await service.get(alarm.id)).customerId, customer.id)
  })

  test('goes with its originator', async () => {
    const originator = await newAsset()
    const alarm = await service.saveByUser(tenant, draftOf(originator, { propagateToTenant: true }))
    await platform.services.declared.of(assets).deleteByUser(tenant, originator.id)
    assert.equal(await service.find(alarm.id), undefined)
    assert.deepEqual(await platform.entities.alarms.shownOn(alarm.id), [])
  })

  test('is given to nobody who may not see it', async () => {
    const { id } = await service.saveByUser(tenant, draftOf(await newAsset()))
    const given = service.assignByUser(tenant, id, platform.customer.userId)
    await assert.rejects(given, { code: 'alarm.ASSIGNEE_WITHOUT_ACCESS' })
    const own = { ...draftOf(await newAsset(platform.customer.customerId ?? '')), customerId: undefined }
    await assert.rejects(service.saveByUser(platform.customer, own), { status: 403 })
  })

  test('is raised and cleared by rules, which tell the rule engine themselves', async () => {
    const originator = await newAsset()
    const draft = draftOf(originator, { startTs: 7, details: { n: 1 } })
    const { before: none, alarm, info } = await service.createOrUpdate(platform.tenantId, draft)
    assert.equal(none, undefined)
    assert.equal(info['originatorName'], `asset ${made}`)
    const again = await service.createOrUpdate(platform.tenantId, draft)
    assert.deepEqual([again.before?.version, again.alarm.version], [1, 1])
    const { startTs: _, ...unsaid } = draft
    const later = await service.createOrUpdate(platform.tenantId, { ...unsaid, endTs: 9 })
    assert.deepEqual([later.alarm.startTs, later.alarm.endTs], [7, 9])
    const cleared = await service.clear(originator, 'Hot', { n: 2 })
    assert.deepEqual([cleared?.alarm.id, cleared?.alarm.cleared, cleared?.alarm.details], [alarm.id, true, { n: 2 }])
    assert.equal(await service.clear(originator, 'Hot'), undefined)
    assert.deepEqual(messagesAbout(originator), [])
    await assert.rejects(service.createOrUpdate('00000000-0000-0000-0000-000000000000', draft), { status: 404 })
  })

  test('is found by status, severity, type, time and words', async () => {
    const { tenantId } = platform
    const originator = await newAsset()
    const hot = await service.saveByUser(tenant, draftOf(originator))
    await service.ackByUser(tenant, hot.id)
    platform.clock.time += 1
    await service.saveByUser(tenant, draftOf(originator, { type: 'Wet', severity: 'MINOR', cleared: true }))
    const on = { tenantId, entityId: originator.id }
    const typesOf = async (filter: object, query: object = {}) =>
      (await service.page({ ...on, ...filter }, { ...PAGE, sortProperty: 'type', ...query })).data.map(
        ({ type }) => type,
      )
    assert.deepEqual(await typesOf({}, { sortOrder: 'DESC' }), ['Wet', 'Hot'])
    assert.deepEqual(await typesOf({ cleared: false }), ['Hot'])
    assert.deepEqual(await typesOf({ acknowledged: false }), ['Wet'])
    assert.deepEqual(await typesOf({ severities: ['MAJOR', 'CRITICAL'] }), ['Hot'])
    assert.deepEqual(await typesOf({ types: ['Wet'] }), ['Wet'])
    assert.deepEqual(await typesOf({ startTime: platform.clock.now() }), ['Wet'])
    assert.deepEqual(await typesOf({ endTime: hot.createdTime }), ['Hot'])
    assert.deepEqual(await typesOf({}, { textSearch: 'wE' }), ['Wet'])
    assert.deepEqual(await typesOf({}, { textSearch: 'active_ack' }), ['Hot'])
    assert.deepEqual(await typesOf({}, { sortProperty: 'status' }), ['Hot', 'Wet'])
    await assert.rejects(typesOf({}, { sortProperty: 'originator' }), { status: 400 })
    for (const sortProperty of ['originatorName', 'originatorLabel', 'originatorDisplayName']) {
      const named = async (sortOrder: 'ASC' | 'DESC') =>
        (await service.page({ tenantId }, { ...PAGE, sortProperty, sortOrder })).data.map((info) => {
          const name = info[sortProperty]
          return typeof name === 'string' ? name : ''
        })
      const ascending = await named('ASC')
      assert.ok(new Set(ascending).size > 1)
      assert.deepEqual(ascending, ascending.toSorted())
      assert.deepEqual(await named('DESC'), ascending.toReversed())
    }
    await service.assignByUser(tenant, hot.id, tenant.userId)
    // What is absent comes last, as PostgreSQL orders it for the reference.
    for (const sortProperty of ['assigneeEmail', 'assigneeId']) {
      assert.deepEqual(await typesOf({}, { sortProperty }), ['Hot', 'Wet'], sortProperty)
      assert.deepEqual(await typesOf({}, { sortProperty, sortOrder: 'DESC' }), ['Wet', 'Hot'], sortProperty)
    }
    for (const sortProperty of ['assigneeFirstName', 'assigneeLastName'])
      assert.equal((await typesOf({}, { sortProperty })).length, 2)
    assert.equal(await service.highestSeverity(on), 'MAJOR')
    assert.equal(await service.highestSeverity({ ...on, cleared: true }), 'MINOR')
    const types = await service.types({ tenantId }, { ...PAGE, textSearch: 'we' })
    assert.deepEqual([types.data, types.totalElements], [['Wet'], 1])
    assert.deepEqual((await service.types({ tenantId: originator.id }, PAGE)).data, [])
  })

  test('is not made for what is deleted meanwhile', async () => {
    const originator = await newAsset()
    const gone = platform.services.declared.of(assets).deleteByUser(tenant, originator.id)
    const raised = Promise.allSettled(
      Array.from({ length: 20 }, (_, place) =>
        service.createOrUpdate(platform.tenantId, draftOf(originator, { type: `t${place}` })),
      ),
    )
    await gone
    const outcomes = await raised
    assert.ok(outcomes.some(({ status }) => status === 'rejected'))
    const on = { tenantId: platform.tenantId, types: Array.from({ length: 20 }, (_, place) => `t${place}`) }
    assert.equal((await service.page(on, PAGE)).totalElements, 0)
    const late = { ...draftOf(originator), type: 'late' }
    const { before, after: held } = platform.entities.alarms.requireOriginator(
      late.type,
      originator.id,
      'asset',
      () => new Error('gone'),
    )
    await assert.rejects(platform.entities.write([...before, held]), /gone/)
  })

  test('keeps the newest notes of what a rule did without end', async () => {
    const originator = await newAsset()
    const { alarm } = await service.createOrUpdate(platform.tenantId, draftOf(originator))
    for (let change = 0; change < 205; change++) {
      platform.clock.time += 1
      const severity = change % 2 === 0 ? 'MINOR' : 'MAJOR'
      await service.createOrUpdate(platform.tenantId, draftOf(originator, { severity }))
    }
    const comments = await service.pageOfComments(alarm.id, {
      page: 0,
      pageSize: 1,
      sortProperty: 'createdTime',
      sortOrder: 'DESC',
    })
    assert.equal(comments.totalElements, 200)
    const newest = comments.data[0]?.['comment'] as JsonObject
    assert.equal(newest['newSeverity'], 'MINOR')
  })

  test('goes when it ended long ago, and the oldest go first where there are too many', async () => {
    const originator = await newAsset()
    const { tenantId, clock, entities } = platform
    const raise = async (type: string, more: Partial<UserAlarmDraft> = {}) => {
      clock.time += 1000
      return (await service.createOrUpdate(tenantId, draftOf(originator, { type, ...more }))).alarm
    }
    const day = 86_400_000
    await raise('old', { startTs: clock.time - 3 * day, endTs: clock.time - 2 * day })
    await raise('first')
    await raise('second')
    await service.clear(originator, 'second')
    await raise('third')
    const expiry = (alarmsTtlDays: number, maxAlarms: number) =>
      new AlarmExpiry({
        ...{ entities, alarms: service, clock, maxAlarms },
        limits: { of: async () => ({ ...DEFAULT_LIMITS, alarmsTtlDays }) },
        report: (text) => assert.fail(text),
      })
    await expiry(0, 1_000_000).sweep()
    assert.equal((await typesOn(originator)).length, 4)
    platform.link.messages.length = 0
    platform.changes.length = 0
    await expiry(1, 1_000_000).sweep()
    assert.deepEqual((await typesOn(originator)).toSorted(), ['first', 'second', 'third'])
    const told = platform.link.messages.filter(({ metadata }) => metadata['entityName'] === 'old')
    assert.deepEqual(
      told.map(({ type, originator: { id } }) => [type, id]),
      [['ALARM_DELETE', originator.id]],
    )
    assert.ok(platform.changes.some((change) => change.kind === 'alarm' && change.isDeleted))
    // What the tests before left is older than these.
    while (await expiry(0, 2).sweep());
    assert.deepEqual((await typesOn(originator)).toSorted(), ['first', 'third'])
  })
}
