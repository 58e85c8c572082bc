import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as soon } from 'node:timers/promises'
import { entityId } from '../../../model/entity-id.ts'
import { ManualClock } from '../../../model/manual-clock.ts'
import { createChangeFeed } from '../../../engine/subscriptions/change-feed.ts'
import { openField } from '../../../nodes/calculated/kinds.ts'
import { calculatedFields, type CalculatedField } from '../../entities/calculated-field.ts'
import { recordWith } from '../../entities/rows.ts'
import { FieldIndex } from './field-index.ts'
import { CalculationTriggers } from './triggers.ts'

const TENANT = '11111111-1111-4111-8111-111111111111'
const DEVICE = entityId('DEVICE', '22222222-2222-4222-8222-222222222222')

function field(id: string, tenantId = TENANT): CalculatedField {
  const configuration = {
    ...{ type: 'SIMPLE', expression: 't', output: { type: 'TIME_SERIES', name: 'o' } },
    arguments: { t: { refEntityKey: { key: 'temperature', type: 'TS_LATEST' } } },
  }
  const identity = { id, createdTime: 1, version: 1, tenantId }
  return recordWith(calculatedFields, identity, { name: id, entityId: DEVICE, type: 'SIMPLE', configuration })
}

function opened() {
  const feed = createChangeFeed(() => undefined)
  const reads: { readonly id: string; readonly answer: (record: CalculatedField | undefined) => void }[] = []
  const published: string[] = []
  const began: string[] = []
  const clock = new ManualClock(1000)
  const index = new FieldIndex(
    {
      fields: {
        findAnywhere: (id) => new Promise((answer) => void reads.push({ id, answer })),
        findWhere: () => Promise.resolve([]),
      },
      ...{ feed, open: openField, report: () => undefined },
      began: (tenantId) => void began.push(tenantId),
      toolsOf: () => ({ limit: () => 0, compile: assert.fail, compileWithArguments: assert.fail }),
    },
    () => undefined,
  )
  const publish = ({ id }: { readonly id: string }, receipt: { stored: () => void }): void => {
    published.push(id)
    receipt.stored()
  }
  const triggers = new CalculationTriggers({ link: { publish }, clock, index })
  const save = (): string[] => {
    const answers: string[] = []
    const values = { kind: 'series', points: [{ key: 'temperature', type: 'LONG', value: 1, ts: 1 }] } as const
    const cause = { id: 'm', ts: 1, type: 'POST_TELEMETRY_REQUEST', calculatedFieldIds: [] }
    const change = { tenantId: TENANT, entity: DEVICE, values, cause }
    const isNeeded = triggers.handOver(change, (error) => void answers.push(error?.message ?? 'done'))
    return isNeeded ? answers : ['not needed']
  }
  return { feed, index, reads, published, began, triggers, save }
}

for (const gone of [entityId('CALCULATED_FIELD', 'f'), entityId('TENANT', TENANT), DEVICE])
  test(`a field that goes with its ${gone.entityType} while it is read does not come back`, async () => {
    const { feed, index, reads } = opened()
    feed.publish({ kind: 'settings-changed', entity: entityId('CALCULATED_FIELD', 'f') })
    await soon()
    feed.publish({ kind: 'entity-deleted', entity: gone, tenantId: TENANT })
    reads[0]?.answer(field('f'))
    await soon()
    assert.equal(index.size, 0)
    assert.deepEqual(index.tenantIds(), [])
  })

test('values may be needed where the tenant has a field, or one is read that may be its', async () => {
  const { index, reads, triggers } = opened()
  const needed: boolean[] = [triggers.mayNeed(TENANT)]
  const read = index.refresh('f')
  await soon()
  needed.push(triggers.mayNeed(TENANT))
  reads[0]?.answer(field('f'))
  await read
  needed.push(triggers.mayNeed(TENANT), triggers.mayNeed('99999999-9999-4999-8999-999999999999'))
  assert.deepEqual(needed, [false, true, true, false])
})

test('a field that many ask for is read for all of them, once more where it may have changed meanwhile', async () => {
  const { index, reads } = opened()
  const asked = Array.from({ length: 3 }, () => index.refresh('f'))
  await soon()
  asked.push(index.refresh('f'), index.refresh('f'))
  assert.equal(reads.length, 1)
  reads[0]?.answer(undefined)
  await soon()
  assert.equal(reads.length, 2)
  reads[1]?.answer(field('f'))
  await Promise.all(asked)
  assert.deepEqual([reads.length, index.size], [2, 1])
})

test('values wait for the fields that are being read then, and not for those of which others ask later', async () => {
  const { index, reads, save, published } = opened()
  void index.refresh('f')
  await soon()
  const answers = save()
  void index.refresh('other')
  await soon()
  assert.deepEqual(answers, [])
  reads[0]?.answer(field('f'))
  await soon()
  assert.deepEqual(answers, ['done'])
  assert.equal(published.length, 1)
})

test('of a tenant with its first field is told, whichever process saved it', async () => {
  const { feed, reads, began } = opened()
  for (const id of ['f', 'other']) {
    feed.publish({ kind: 'settings-changed', entity: entityId('CALCULATED_FIELD', id) })
    await soon()
    reads.at(-1)?.answer(field(id))
    await soon()
  }
  assert.deepEqual(began, [TENANT])
})

test('values do not wait while the field of another tenant is read again', async () => {
  const { index, reads, save, published } = opened()
  const begun = [index.refresh('f'), index.refresh('stranger')]
  await soon()
  reads[0]?.answer(field('f'))
  reads[1]?.answer(field('stranger', '33333333-3333-4333-8333-333333333333'))
  await Promise.all(begun)
  void index.refresh('stranger')
  assert.deepEqual(save(), ['done'])
  assert.equal(published.length, 1)
  void index.refresh('f')
  assert.deepEqual(save(), [], 'one of its own')
})
