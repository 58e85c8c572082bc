/**
 * The process that `kill-steps.test.ts` has killed: makes one change by a user over a real store, and ends itself by SIGKILL at the durable
 * step that its argument names: while the database is at it, or as soon as it has answered. Says so before; ends in order where there is no such step.
 */
import { z } from 'zod'
import { openEntityStore, openPostgresEntityStore, type EntityStore } from '../storage/entities/entity-store.ts'
import { DECLARED_TABLES } from './entities/declared.ts'
import { CHANGES } from './kill-changes.ts'
import { openTestPlatform, testSecrets } from './testkit.ts'

const { file, url, change, name, step, when, key } = z
  .object({
    ...{ file: z.string().optional(), url: z.string().optional() },
    ...{ change: z.string(), name: z.string(), key: z.string() },
    ...{ step: z.int(), when: z.enum(['during', 'after']) },
  })
  .parse(JSON.parse(process.argv[2] ?? ''))
const clock = { now: () => 1_700_000_000_000 }
const tables = DECLARED_TABLES
const inner =
  url === undefined
    ? await openEntityStore({ file: file ?? '', durability: 'process-death', clock, tables })
    : await openPostgresEntityStore({ url, applicationName: 'killed', clock, tables })

let [isArmed, steps] = [false, 0]
const store: EntityStore = {
  ...inner,
  async write(statements) {
    const isLast = isArmed && ++steps === step
    const writing = inner.write(statements)
    // The statements are on their way to the thread or the server: how far they come is left to chance.
    if (isLast && when === 'during') setImmediate(die)
    const written = await writing
    if (isLast) die()
    return written
  },
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

const secrets = testSecrets(Buffer.from(key, 'base64'))
const platform = await openTestPlatform({ start: false, secrets, openEntities: () => Promise.resolve(store) })
isArmed = true
await CHANGES[change]?.(platform, name)
process.stdout.write(`${steps} steps\n`)
await platform.close()
