/**
 * A store that answers nothing for a while under a burst of many devices: what is held stays within its bounds, senders are asked
 * to pause, and when the store answers again all that was acknowledged is saved, none of it as a dead letter.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { createActorSystem } from '../../engine/actor/system.ts'
import { nodeDisk } from '../../disk/node-disk.ts'
import { openSegmentLog } from '../../engine/link/segments/segment-log.ts'
import { message } from '../../engine/link/testkit.ts'
import { createQueue } from '../../engine/queue/queue.ts'
import { createRuleEngine } from '../../engine/rulechain/rule-engine.ts'
import { catalogueOf, chainOf, TENANT_ID } from '../../engine/rulechain/testkit.ts'
import type { Message } from '../../model/message.ts'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import { GroupCommit } from '../../storage/group-commit.ts'

const DEVICES = 100_000
const STALL_MS = 2000
const MAX_BACKLOG_BYTES = 8 << 20
const MAX_HELD = 20_000

test('a stalled store slows the senders down, memory is bounded, and nothing acknowledged is lost', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-stalled-'))
  context.after(() => rm(directory, { recursive: true, force: true }))
  let answer: () => void = () => undefined
  const stall = new Promise<void>((resolve) => (answer = resolve))
  const saved = new Set<string>()
  const store = new GroupCommit<Message, void>({
    name: 'the store',
    maxPending: MAX_HELD / 4,
    maxGroup: 1000,
    write: async (group) => {
      await stall
      for (const { id } of group) saved.add(id)
    },
  })
  const link = await openSegmentLog({
    directory,
    disk: nodeDisk,
    clock: systemClock,
    durability: 'process-death',
    partitions: 4,
    bounds: { segmentBytes: 1 << 20, maxBacklogBytes: MAX_BACKLOG_BYTES },
  })
  const actors = createActorSystem({ clock: systemClock, onError: ({ error }) => assert.fail(String(error)) })
  const engine = createRuleEngine({
    catalogue: catalogueOf({
      save: () => ({ handle: (arrived) => store.add(arrived).then(() => 'Success') }),
    }),
    capabilities: {},
    clock: systemClock,
    random: systemRandom,
    actors,
    log: () => undefined,
    link,
  })
  const { chain, graph } = chainOf('chain', [{ type: 'save' }], [])
  await engine.load(chain, graph)
  const queue = createQueue({ link, processor: engine, clock: systemClock, settings: { maxHeld: MAX_HELD } })
  context.after(async () => {
    await queue.close()
    await engine.close()
    await actors.close()
    await link.close()
  })

  const acknowledged = new Set<string>()
  const refusals: string[] = []
  let sent = 0
  let isSending = true
  let pauses = 0
  let mostHeld = 0
  const look = (): void => {
    mostHeld = Math.max(mostHeld, queue.figures().held)
  }
  const writable = (): Promise<void> =>
    new Promise((resolve) => {
      const stop = link.onWritable(() => {
        stop()
        resolve()
      })
    })
  const senders = (async () => {
    while (isSending) {
      for (let burst = 0; burst < 500 && link.writable; burst++) {
        const next = message({ device: ++sent % DEVICES, tenantId: TENANT_ID })
        link.publish(next, {
          stored: () => void acknowledged.add(next.id),
          refused: (error) => void refusals.push(error.code),
        })
      }
      look()
      if (!link.writable) {
        pauses++
        await Promise.race([writable(), delay(100)])
      }
      await new Promise(setImmediate)
    }
  })()
  for (let wait = 0; wait < 3000 && link.writable; wait++) await delay(10)
  assert.ok(!link.writable, 'senders are asked to pause')
  await delay(STALL_MS)
  const stalled = { ...link.figures(), held: queue.figures().held }
  assert.ok(!link.writable, 'and they stay so while it stalls')
  assert.ok(stalled.backlogBytes <= MAX_BACKLOG_BYTES, `${stalled.backlogBytes} bytes in the log`)
  assert.equal(saved.size, 0)

  answer()
  await delay(500)
  isSending = false
  await senders
  for (let wait = 0; wait < 600 && (link.figures().unsettled > 0 || link.figures().pending > 0); wait++) {
    look()
    await delay(50)
  }
  const { unsettled, deadLetters } = link.figures()
  context.diagnostic(
    `sent ${sent}, acknowledged ${acknowledged.size}, saved ${saved.size}, most held ${mostHeld}, ${pauses} pauses, ` +
      `${stalled.backlogBytes} bytes in the log while it stalled`,
  )
  assert.deepEqual({ unsettled, deadLetters, refusals }, { unsettled: 0, deadLetters: 0, refusals: [] })
  assert.ok(mostHeld <= MAX_HELD, `${mostHeld} held`)
  assert.ok(acknowledged.size > MAX_HELD, `void: only ${acknowledged.size} acknowledged`)
  assert.deepEqual(
    [...acknowledged].filter((id) => !saved.has(id)),
    [],
  )
})
