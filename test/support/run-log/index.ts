/** What tests need of the log of runs. */
import { join } from 'node:path'

export { RunJudge, type RunRules, type RunVerdict } from './judge-runs.ts'
export { RunLog, type Run } from './run-log.ts'

export const RUN_LOG_PRELOAD = join(import.meta.dirname, 'register.ts')
/** Apart from the node: who imports it must not load the program. */
export const RUN_LOG_NODE = 'millrace.test.RunLogNode'
/** The relation of messages with a text, where the node is forked. */
export const WITH_TEXT = 'With text'
/** Before the device's id, in the log of children. */
export const CHILD_OF = 'child-of-'
