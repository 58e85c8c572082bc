/** A node of windows whose clock follows the messages. */
import type { Clock } from '../../model/clock.ts'
import type { NodeDefinition } from '../../engine/rulechain/node.ts'
import type { JsonObject } from '../../model/json.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'

export async function openedWindows(definition: NodeDefinition, configuration: JsonObject, start: number) {
  let now = start
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    after: () => ({ cancel: () => undefined }),
    soon: (run) => queueMicrotask(run),
  }
  const context = testContext({ clock })
  const { state } = context.fakes
  let node = await createNode(definition, configuration, context)
  return {
    state,
    give: async (ts: number, data: string, metadata: Readonly<Record<string, string>> = {}) => {
      now = Math.max(now, ts)
      const [result] = await runNode(node, testMessage({ data, metadata: { ts: String(ts), ...metadata } }))
      return result
    },
    restart: async (change: JsonObject = {}) => {
      node = await createNode(definition, { ...configuration, ...change }, context)
    },
    pass: async (ms: number) => {
      now += ms
      await state.wake()
    },
    told: () =>
      state.sent.map(({ message, relation }) => [relation, message.type, message.metadata['ts'], message.data]),
  }
}
