/**
 * A rule node for tests: appends each run of a message to the file of `RUN_LOG`, one write for a batch, and lets the first try of every
 * so many-th value fail, up to the value `failUpTo`, and behind it each `failEachLater`-th. With `ofChildren` it stands behind a checkpoint; `isForked` sends
 * messages with a text another way; `holdMs` keeps what it wrote for so long. What is written survives the end of the process.
 */
import { openSync, writeSync } from 'node:fs'
import type { JsonObject } from '../../../model/json.ts'
import type { Message } from '../../../model/message.ts'
import { ORDINARY_EDITOR } from '../../../engine/rulechain/testkit.ts'
import type { BatchResult, NodeDefinition } from '../../../engine/rulechain/node.ts'
import { CHILD_OF, RUN_LOG_NODE, WITH_TEXT } from './index.ts'
import { lineOf, type Run } from './run-log.ts'
import { tryOf } from './tries.ts'

export const runLogNode: NodeDefinition = {
  type: RUN_LOG_NODE,
  name: 'run log',
  category: 'ACTION',
  configurationVersion: 0,
  description: 'Appends each run of a message to a file.',
  relations: ['Success', WITH_TEXT],
  defaultConfiguration: { failEach: 0, failUpTo: 0, failEachLater: 0, ofChildren: false, isForked: false, holdMs: 0 },
  configurationSchema: { type: 'object' },
  uses: [],
  effects: true,
  editor: ORDINARY_EDITOR,
  check: () => undefined,
  create: (configuration, { clock }) => {
    const file = openSync(process.env['RUN_LOG'] ?? '/dev/null', 'a')
    const [failEach, failUpTo] = [numberOf(configuration, 'failEach'), numberOf(configuration, 'failUpTo')]
    const failEachLater = numberOf(configuration, 'failEachLater')
    const eachOf = (value: number): number => (value <= failUpTo ? failEach : failEachLater)
    const fails = ({ attempt, value }: Run): boolean =>
      attempt === 1 && eachOf(value) > 0 && value % eachOf(value) === 0
    const way = { file, fails, prefix: configuration['ofChildren'] === true ? CHILD_OF : '' }
    const relationOf = ({ data }: Message): string =>
      configuration['isForked'] === true && data.includes('"text"') ? WITH_TEXT : 'Success'
    const holdMs = numberOf(configuration, 'holdMs')
    return {
      handleBatch: (messages, result) => {
        const tell = handle({ ...way, relationOf }, messages, result)
        if (holdMs === 0) return tell()
        return new Promise<void>((resolve) => void clock.after(holdMs, resolve)).then(tell)
      },
    }
  },
}

interface Way {
  readonly file: number
  readonly fails: (run: Run) => boolean
  /** Of the device in the log. */
  readonly prefix: string
  readonly relationOf: (message: Message) => string
}

/** Writes, and returns what tells of the outcomes. */
function handle(
  { file, fails, prefix, relationOf }: Way,
  messages: readonly Message[],
  result: BatchResult,
): () => void {
  const runs = messages.map((message) => {
    const value = valueOf(message)
    return value === undefined
      ? undefined
      : { id: message.id, ...tryOf(message.id), deviceId: prefix + message.originator.id, value }
  })
  const lines = runs.map((run) => (run === undefined ? '' : lineOf(run))).join('')
  if (lines !== '') writeSync(file, lines)
  return () => {
    for (const [index, message] of messages.entries()) {
      const run = runs[index]
      if (run !== undefined && fails(run)) {
        result.fail(index, new Error('fails once'))
      } else result.emit(index, relationOf(message))
    }
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
