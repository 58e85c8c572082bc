import assert from 'node:assert/strict'
import { test } from 'node:test'
import { message } from '../../link/testkit.ts'
import { causeOf } from './calculated.ts'

test('a message that came late is a late cause', () => {
  const causes = [{}, { backfill: 'true' }].map((metadata) => causeOf(message({ metadata }), 'node'))
  assert.deepEqual(
    causes.map(({ isBackfill }) => isBackfill),
    [false, true],
  )
})
