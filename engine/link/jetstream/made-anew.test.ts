import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requireOwnServer, startNats } from '../../../test/support/servers/index.ts'
import { StatesInMemory } from '../../state/memory-store.ts'
import type { PartitionStore } from '../../state/store.ts'
import { message } from '../testkit.ts'
import { openTestLink } from './nats-testkit.ts'

const STREAMS = 4
const STARTS = 3
const NOTHING = { states: [], removedStates: [], outputs: [], removedOutputs: [] }

void test('a NATS server made anew beside a kept store: every stream is read, and the former owners can store nothing', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const store = new StatesInMemory()

  /** Starts a process that takes all streams and one message of each, and ends it. */
  async function run(servers: string): Promise<readonly PartitionStore[]> {
    const { link, close } = await openTestLink({ servers, prefix: 'kept' })
    const claimed: PartitionStore[] = []
    const seen = new Set<string>()
    await new Promise<void>((resolve) => {
      link.watch({
        taken: async (stream, _isHeld, epoch) => void (claimed[stream] = await store.claim(stream, epoch)),
        epochOf: (stream) => store.epochOf(stream),
        gone: () => undefined,
      })
      link.consume({
        room: () => 100,
        deliver: (batch) => {
          for (const { message: delivered } of batch) seen.add(delivered.data)
          link.settle(batch)
          if (seen.size === 64) resolve()
        },
      })
      for (let device = 0; device < 64; device++) {
        link.publish(message({ data: String(device), device }), {
          stored: () => undefined,
          refused: assert.fail,
        })
      }
    })
    await close()
    return claimed
  }

  const former = await startNats({})
  let held: readonly PartitionStore[] = []
  for (let start = 0; start < STARTS; start++) held = await run(former.url)
  await former.stop()
  const anew = await startNats({})
  context.after(() => anew.stop())
  const now = await run(anew.url)
  assert.equal(Object.keys(now).length, STREAMS)
  for (const partition of now) await partition.commit(NOTHING)
  for (const partition of held) await assert.rejects(partition.commit(NOTHING), { code: 'node-state.OWNER_STALE' })
})
