import assert from 'node:assert/strict'
import { test } from 'node:test'
import { causeOf } from './calculation-cause.ts'
import { testMessage } from './testkit.ts'

test('a message that came late is a late cause', () => {
  const causes = [{}, { backfill: 'true' }].map((metadata) => causeOf(testMessage({ data: '{}', metadata }), 'node'))
  assert.deepEqual(
    causes.map(({ isBackfill }) => isBackfill),
    [false, true],
  )
})
