/** The process that `kill-steps.test.ts` has killed: makes one change by a user. Says how many steps that took where it lives. */
import { z } from 'zod'
import { deathSchema, openDyingPlatform } from './dying-platform.ts'
import { CHANGES } from './kill-changes.ts'

const { change, ...death } = deathSchema.extend({ change: z.string() }).parse(JSON.parse(process.argv[2] ?? ''))
const dying = await openDyingPlatform(death)
dying.arm()
await CHANGES[change]?.(dying.platform, death.name)
process.stdout.write(`${dying.steps} steps\n`)
await dying.platform.close()
