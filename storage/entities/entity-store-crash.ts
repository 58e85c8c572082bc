/**
 * The process that `entity-store.test.ts` kills: says that it is about to open the store, then counts a setting up and
 * prints each number that was committed.
 */
import { openEntityStore } from './entity-store.ts'

process.stdout.write('opening\n')
const [file = ''] = process.argv.slice(2)
const store = await openEntityStore({ file, durability: 'process-death', clock: { now: () => 1 } })
const start = Number((await store.settings.find('counter')) ?? 0)
for (let counter = start + 1; ; counter++) {
  await store.settings.put('counter', counter)
  process.stdout.write(`${counter}\n`)
}
