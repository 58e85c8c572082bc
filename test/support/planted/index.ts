/** What tests need to plant a bug. */
import { join } from 'node:path'

export { FORMER_LOG, OWNER_BUG, PACK_BUGS, PARKING_BUG, PLANTED_BUGS, simulationBugs, type PlantedBug } from './bugs.ts'

export const PLANTED_PRELOAD = join(import.meta.dirname, 'register.ts')
