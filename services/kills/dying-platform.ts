/**
 * For processes that tests have killed: a platform over a real store, which ends the process by SIGKILL at one durable step: while the database
 * is at it, or as soon as it has answered. Never where there is no such step.
 */
import { z } from 'zod'
import { openEntityStore, openPostgresEntityStore, type EntityStore } from '../../storage/entities/entity-store.ts'
import { DECLARED_TABLES } from '../entities/declared.ts'
import { openTestPlatform, testSecrets, type TestPlatform } from '../testkit.ts'

const clock = { now: () => 1_700_000_000_000 }

/** What the process is told, as JSON in its first argument. `key`: of the secrets, in Base64. */
export const deathSchema = z.object({
  ...{ file: z.string().optional(), url: z.string().optional(), key: z.string() },
  ...{ name: z.string(), step: z.int(), when: z.enum(['during', 'after']) },
})

export interface DyingPlatform {
  readonly platform: TestPlatform
  /** Durable steps since `arm`. */
  readonly steps: number
  /** Steps count from here. */
  arm(): void
}

export async function openDyingPlatform({
  file,
  url,
  key,
  step,
  when,
}: z.infer<typeof deathSchema>): Promise<DyingPlatform> {
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
  const secrets = testSecrets(Buffer.from(key, 'base64'))
  const platform = await openTestPlatform({ start: false, secrets, openEntities: () => Promise.resolve(store) })
  return {
    platform,
    get steps() {
      return steps
    },
    arm: () => {
      isArmed = true
    },
  }
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}
