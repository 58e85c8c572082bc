/** Searches of lists whose columns hold known words, against a plain evaluation over the rows, on both databases. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { ACTION_TYPES, type AuditEntry } from '../../model/audit.ts'
import { entityId } from '../../model/entity-id.ts'
import type { PageQuery } from '../../model/entities.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { alarms, SEVERITIES, statusOf } from '../entities/alarm.ts'
import { recordWith, rowsOf } from '../entities/rows.ts'
import type { TestPlatform } from '../testkit.ts'

const SEARCHES = [
  'a',
  'LOGIN',
  'logout',
  'fail',
  'S%E',
  'dev_',
  'dev%ce 1',
  'ack',
  '_unack',
  'Cleared',
  'maj',
  '\u212a',
  'É',
  '%',
  'no such',
]
const PAGE_SIZE = 7
/** Fills pages of that size. */
const ROWS = 42

await onBothDatabases('searches of words ', (open) => {
  let platform: TestPlatform
  before(async () => {
    platform = await open()
  })
  after(() => platform.close())

  test('rows of the audit log are those that hold the text, on every page', async () => {
    const { entities, tenantId } = platform
    const userId = randomUUID()
    const rows = Array.from({ length: ROWS }, (_, number): AuditEntry => ({
      ...{ id: randomUUID(), createdTime: Math.floor(number / 5), tenantId, customerId: null, userId },
      entity: entityId(number % 2 === 0 ? 'DEVICE' : 'ASSET', randomUUID()),
      ...{ entityName: number % 3 === 0 ? 'Dév_' : `device ${number}`, userName: number % 4 === 0 ? 'kay' : 'zoe' },
      ...{
        clientAddress: number % 5 === 0 ? null : `198.51.100.${number}`,
        actionData: '{}',
        actionFailureDetails: '',
      },
      actionType: ACTION_TYPES[number % ACTION_TYPES.length] ?? 'LOGIN',
      actionStatus: number % 6 === 0 ? 'FAILURE' : 'SUCCESS',
    }))
    await entities.write(rows.map((row) => entities.auditLog.add(row)))
    const filter = { tenantId, userId, startTime: 0, endTime: 1_000, actionTypes: [] }
    const texts = ({ entity, entityName, userName, actionType, actionStatus, clientAddress }: AuditEntry) => [
      entity.entityType,
      entityName,
      userName,
      actionType,
      actionStatus,
      clientAddress ?? '',
    ]
    await checkPages(
      rows.toSorted(byNewest).map((row) => ({ id: row.id, texts: texts(row) })),
      async (query) => platform.services.audit.page(filter, query),
    )
  })

  test('alarms are those whose type, severity or status holds the text, on every page', async () => {
    const { entities, tenantId } = platform
    const records = Array.from({ length: ROWS }, (_, number) =>
      recordWith(
        alarms,
        { id: randomUUID(), createdTime: Math.floor(number / 5), version: 1, tenantId },
        {
          ...{ type: number % 3 === 0 ? 'Dév_' : `device ${number}`, severity: SEVERITIES[number % SEVERITIES.length] },
          ...{ originatorType: 'DEVICE', originatorId: randomUUID() },
          ...{ cleared: number % 2 === 0, acknowledged: number % 4 < 2 },
        },
      ),
    )
    await entities.write([rowsOf(alarms, entities).insertAll(records.map((record) => alarms.rowOf(record)))])
    await checkPages(
      records
        .toSorted(byNewest)
        .map((alarm) => ({ id: alarm.id, texts: [alarm.type, alarm.severity, statusOf(alarm)] })),
      async (query) => {
        const page = await entities.alarms.page({ tenantId }, query)
        return { ...page, data: page.data.map((row) => ({ id: String(row['id']) })) }
      },
    )
  })
})

interface Listed {
  readonly id: string
  readonly texts: readonly string[]
}

async function checkPages(
  rows: readonly Listed[],
  pageOf: (
    query: PageQuery,
  ) => Promise<{ readonly totalElements: number; readonly data: readonly { readonly id: string }[] }>,
): Promise<void> {
  for (const textSearch of [undefined, ...SEARCHES]) {
    const expected = rows.filter(
      ({ texts }) => textSearch === undefined || texts.some((text) => holds(text, textSearch)),
    )
    for (let page = 0; page <= ROWS / PAGE_SIZE + 1; page++) {
      const query: PageQuery = { page, pageSize: PAGE_SIZE, sortProperty: 'createdTime', sortOrder: 'DESC', textSearch }
      const found = await pageOf(query)
      const label = `${textSearch}, page ${page}`
      assert.equal(found.totalElements, expected.length, label)
      assert.deepEqual(
        found.data.map(({ id }) => id),
        expected.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE).map(({ id }) => id),
        label,
      )
    }
  }
}

/** `%` stands for any letters, `_` for itself. */
function holds(text: string, wanted: string): boolean {
  const parts = wanted
    .toLowerCase()
    .split('%')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(parts.join('.*')).test(text.toLowerCase())
}

function byNewest(one: Pick<AuditEntry, 'id' | 'createdTime'>, other: Pick<AuditEntry, 'id' | 'createdTime'>): number {
  return other.createdTime - one.createdTime || (one.id < other.id ? -1 : 1)
}
