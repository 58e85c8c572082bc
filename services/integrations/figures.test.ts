import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../model/manual-clock.ts'
import { stringifyJson } from '../../model/json.ts'
import type { AttributeService } from '../attributes/attribute-service.ts'
import { FigureBook } from './figures.ts'

type Saved = Parameters<AttributeService['save']>[0]

const TENANT = '11111111-1111-4111-8111-111111111111'
const OTHER = '22222222-2222-4222-8222-222222222222'
const ONE = { id: '33333333-3333-4333-8333-333333333333', tenantId: TENANT, enabled: true }
const TWO = { id: '44444444-4444-4444-8444-444444444444', tenantId: OTHER, enabled: true }

function openBook() {
  const saved: Saved[] = []
  const book = new FigureBook({
    ...{ clock: new ManualClock(), report: assert.fail, server: 's', events: { add: () => undefined } },
    attributes: {
      find: ({ id }) => {
        const entries = saved.flatMap(({ entity, entries: rows }) => (entity.id === id ? rows : []))
        const value = entries.map((entry) => ({
          ...entry,
          scope: 'SERVER_SCOPE' as const,
          lastUpdateTs: 1,
          version: 1,
        }))
        return Promise.resolve({ value: value.slice(-1), sequence: 0 })
      },
      save: (change) => {
        saved.push(change)
        return Promise.resolve()
      },
    },
  })
  return { book, saved }
}

test('what is disabled is stopped, whatever was said of it last', async () => {
  const { book } = openBook()
  book.of(ONE).is('RUNNING')
  assert.equal((await book.sum(ONE))['state'], 'RUNNING')
  assert.equal((await book.sum({ ...ONE, enabled: false }))['state'], 'STOPPED')
})

test('the figures of a tenant go with it, and those of others stay', async () => {
  const { book, saved } = openBook()
  for (const each of [ONE, TWO]) book.of(each).received(7)
  book.forgetTenant(TENANT)
  await book.flush()
  assert.deepEqual(
    saved.map(({ entity }) => entity.id),
    [TWO.id],
  )
  assert.match(stringifyJson(await book.sum(TWO)), /"receivedBytes":7/)
})
