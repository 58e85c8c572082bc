/**
 * A rule node for tests: appends each run of a message to the file of `RUN_LOG`, one write for a batch, and lets the first try of every
 * so many-th value fail, up to the value `failUpTo`. What is written survives the end of the process.
 */
import { openSync, writeSync } from 'node:fs'
import type { JsonObject } from '../../../model/json.ts'
import type { Message } from '../../../model/message.ts'
import type { BatchResult, NodeDefinition } from '../../../engine/rulechain/node.ts'
import { RUN_LOG_NODE } from './index.ts'
import { lineOf, type Run } from './run-log.ts'
import { tryOf } from './tries.ts'

export const runLogNode: NodeDefinition = {
  type: RUN_LOG_NODE,
  name: 'run log',
  category: 'ACTION',
  configurationVersion: 0,
  description: 'Appends each run of a message to a file.',
  relations: ['Success'],
  defaultConfiguration: { failEach: 0, failUpTo: 0 },
  configurationSchema: { type: 'object' },
  check: () => undefined,
  create: (configuration) => {
    const file = openSync(process.env['RUN_LOG'] ?? '/dev/null', 'a')
    const [failEach, failUpTo] = [numberOf(configuration, 'failEach'), numberOf(configuration, 'failUpTo')]
    const fails = ({ attempt, value }: Run): boolean =>
      attempt === 1 && value <= failUpTo && failEach > 0 && value % failEach === 0
    return { handleBatch: (messages, result) => handle(file, fails, messages, result) }
  },
}

function handle(file: number, fails: (run: Run) => boolean, messages: readonly Message[], result: BatchResult): void {
  const runs = messages.map((message) => {
    const value = valueOf(message)
    return value === undefined
      ? undefined
      : { id: message.id, ...tryOf(message.id), deviceId: message.originator.id, value }
  })
  const lines = runs.map((run) => (run === undefined ? '' : lineOf(run))).join('')
  if (lines !== '') writeSync(file, lines)
  for (const [index, run] of runs.entries()) {
    if (run !== undefined && fails(run)) {
      result.fail(index, new Error('fails once'))
    } else result.emit(index, 'Success')
  }
}

/** The numbered value that a device sent; undefined for what is none. */
function valueOf({ type, data }: Message): number | undefined {
  if (type !== 'POST_TELEMETRY_REQUEST') return undefined
  const { n } = JSON.parse(data) as { readonly n?: number }
  return n
}

function numberOf(configuration: JsonObject, key: string): number {
  const value = configuration[key]
  return typeof value === 'number' ? value : 0
}
