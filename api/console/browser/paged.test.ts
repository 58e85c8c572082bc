import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countText, pageOf } from './paged.js'

test('a list that was read whole is cut as the server cuts one', () => {
  const all = Array.from({ length: 45 }, (_, index) => index)
  const pages = [0, 1, 2, 3].map((page) => pageOf(all, page, 20))
  assert.deepEqual(
    pages.map(({ data }) => data.length),
    [20, 20, 5, 0],
  )
  assert.deepEqual(
    pages.map(({ hasNext }) => hasNext),
    [true, true, false, false],
  )
  assert.deepEqual(pages[1]?.data[0], 20)
  assert.equal(pageOf(all.slice(0, 20), 0, 20).hasNext, false)
  assert.equal(countText('Has', 45, 3, 5), '41 to 45 of 45')
})
