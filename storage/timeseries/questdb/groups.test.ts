/** What goes into one transaction. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { long, write } from '../contract.ts'
import { openedStore, serversForFile } from './testkit.ts'

const servers = await serversForFile()

test(
  'small writes count as three points, so that as many as the engine holds fill groups',
  { skip: servers === undefined },
  async (context) => {
    assert.ok(servers !== undefined)
    const { store } = await openedStore(context, servers, { maxGroupPoints: 6 })
    const before = store.figures().groupsWritten
    const point = long('k', 1, 1)
    await Promise.all(Array.from({ length: 6 }, () => store.write([write(randomUUID(), [point])])))
    assert.equal(store.figures().groupsWritten - before, 3)
  },
)
