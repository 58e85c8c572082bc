/**
 * A member that hears nothing of the others for a while: what changed meanwhile it knows after the heal, without being told again.
 * Bytes are thrown away on its line to NATS, in silence, and the line is reset at the heal: what was sent meanwhile is gone.
 */
import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import WebSocket from 'ws'
import { RestClient, login } from '../support/clients.ts'
import { requireOwnServer } from '../support/servers/index.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { openProductionWorld } from './campaign/production-world.ts'
import type { Member } from './campaign/member.ts'
import type { World } from './campaign/world.ts'

/** Longer than the members take to call one of them gone. */
const CUT_MS = 4_000
const LIMIT_MS = 180_000
/** So many that each engine has one: with three streams one of two has three partitions of ten, and none of twelve once in seventy runs. */
const DEVICES = 64
let opening: Promise<World> | undefined

async function theWorld(context: TestContext): Promise<World | undefined> {
  if (!requireOwnServer(context, 'nats', 'postgres', 'questdb')) return undefined
  return (opening ??= openProductionWorld({ shape: 'production', seed: seededRandom().seed }))
}

after(async () => {
  await (await opening)?.close()
})

test('K3: a chain that was changed while an engine was cut off runs in it after the heal', async (context) => {
  const world = await theWorld(context)
  if (world === undefined) return
  const rest = new RestClient(world.api.process, await login(world.api.process))
  const says = (text: string, engine: Member): boolean => engine.process.log().includes(`the chain says ${text} here`)
  const tokens = Array.from({ length: DEVICES }, (_, index) => `CHANGED_${index}`)
  await Promise.all(tokens.map((token) => rest.createDevice(token, token)))
  const chain = await rest.expect<{ id: { id: string } }>('POST', '/api/ruleChain', { name: 'says what it is' })
  await saveChain(rest, chain.id.id, 'before')
  await rest.expect('POST', `/api/ruleChain/${chain.id.id}/root`)
  await until(
    'every engine runs the chain',
    () => sendFromAll(world, tokens),
    () => world.engines.every((engine) => says('before', engine)),
  )

  const [cutOff] = world.engines
  assert.ok(cutOff !== undefined)
  await whileCutOff(world, cutOff, () => saveChain(rest, chain.id.id, 'after'))
  await until(
    'every engine runs the changed chain',
    () => sendFromAll(world, tokens),
    () => world.engines.every((engine) => says('after', engine)),
  )
})

test('K3: a WebSocket client sees what was saved while its API was cut off, after the heal', async (context) => {
  const world = await theWorld(context)
  if (world === undefined) return
  const token = await login(world.api.process)
  const deviceId = await new RestClient(world.api.process, token).createDevice('watched', 'WATCHED')
  const socket = new WebSocket(`${world.api.address.url.replace('http', 'ws')}/api/ws`)
  context.after(() => socket.close())
  let latest: string | undefined
  let updates = 0
  socket.on('message', (text) => {
    assert.ok(Buffer.isBuffer(text))
    const { data } = JSON.parse(text.toString()) as { data?: Record<string, [number, string][]> }
    latest = data?.['n']?.[0]?.[1] ?? latest
    updates++
  })
  await new Promise((resolve) => socket.once('open', resolve))
  const subscription = { entityType: 'DEVICE', entityId: deviceId, scope: 'LATEST_TELEMETRY', cmdId: 1 }
  socket.send(JSON.stringify({ authCmd: { cmdId: 0, token }, cmds: [{ type: 'TIMESERIES', ...subscription }] }))
  await until('the subscription is answered', nothing, () => updates > 0)
  await send(world, 'WATCHED', { n: 1 })
  await until('the first value is seen', nothing, () => latest === '1')

  await whileCutOff(world, world.api, async () => {
    for (const n of [2, 3, 4]) await send(world, 'WATCHED', { n })
  })
  await until('the last value is seen', nothing, () => latest === '4')
})

async function whileCutOff(world: World, member: Member, work: () => Promise<void>): Promise<void> {
  const lines = world.lines('nats', [member])
  assert.ok(lines.length > 0)
  for (const line of lines) line.change({ swallowing: true })
  await work()
  await delay(CUT_MS)
  await Promise.all(lines.map((line) => line.heal()))
}

async function saveChain(rest: RestClient, id: string, text: string): Promise<void> {
  const script = `return "the chain says ${text} " + msg.marker;`
  await rest.expect('POST', '/api/ruleChain/metadata', {
    ruleChainId: { entityType: 'RULE_CHAIN', id },
    firstNodeIndex: 0,
    nodes: [
      {
        type: 'org.thingsboard.rule.engine.action.TbLogNode',
        name: 'says so',
        configuration: { scriptLang: 'TBEL', tbelScript: script, jsScript: script },
      },
      {
        type: 'org.thingsboard.rule.engine.telemetry.TbMsgTimeseriesNode',
        name: 'save',
        configurationVersion: 1,
        configuration: { defaultTTL: 0, useServerTs: false, processingSettings: { type: 'ON_EVERY_MESSAGE' } },
      },
    ],
    connections: [{ fromIndex: 0, toIndex: 1, type: 'Success' }],
  })
}

async function sendFromAll(world: World, tokens: readonly string[]): Promise<void> {
  await Promise.all(tokens.map((token) => send(world, token, { marker: 'here' })))
}

async function send(world: World, token: string, values: object): Promise<void> {
  const url = `${world.transports[0]?.address.url}/api/v1/${token}/telemetry`
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(values) })
  await response.arrayBuffer()
  assert.equal(response.status, 200)
}

async function nothing(): Promise<void> {
  // Only waits.
}

async function until(what: string, attempt: () => Promise<void>, condition: () => boolean): Promise<void> {
  const deadline = performance.now() + LIMIT_MS
  for (;;) {
    await attempt()
    if (condition()) return
    assert.ok(performance.now() < deadline, `not within ${LIMIT_MS} ms: ${what}`)
    await delay(100)
  }
}
