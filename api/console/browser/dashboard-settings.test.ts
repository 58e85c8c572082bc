import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assignedThen } from './dashboard-settings.js'

test('who sees a dashboard and is not offered goes on seeing it', () => {
  const ids = assignedThen(['everybody', 'ticked before', 'customer 1001'], ['ticked before', 'new'], ['new'])
  assert.deepEqual(ids, ['new', 'everybody', 'customer 1001'])
})
