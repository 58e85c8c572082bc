/**
 * Aggregates of a building's devices, each second and after each message, by a process that is killed (SIGKILL) again and again: each period is
 * told at most once, sums never go back while the values grow, and the last value is in the last sum. `ROUNDS` sets how often.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { RestClient, login } from '../support/clients.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
const DEVICES = 5
const TOKEN = 'GROUPED_'

interface Point {
  readonly ts: number
  readonly value: number
}

test(`aggregates go on over ${ROUNDS} kills`, { timeout: 600_000 }, async (context) => {
  const random = seededRandom()
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-aggregates-'))
  let millrace: RunningMillrace | undefined
  context.after(async () => {
    await millrace?.kill()
    await rm(dataDir, { recursive: true, force: true })
  })
  millrace = await startMillrace({ dataDir })
  const building = await makeBuilding(millrace)
  let sent = 0
  const values = Array.from({ length: DEVICES }, () => 0)
  for (let round = 0; round <= ROUNDS; round++) {
    for (let message = 0; message < 8; message++) {
      const device = random.between(0, DEVICES - 1)
      values[device] = ++sent
      await send(millrace, device, sent)
    }
    if (round === ROUNDS) break
    await delay(random.between(100, 1_200))
    await millrace.kill()
    millrace = await startMillrace({ dataDir })
  }
  const total = values.reduce((sum, value) => sum + value, 0)
  const rest = new RestClient(millrace, await login(millrace))
  const read = async (key: string): Promise<readonly Point[]> => {
    const range = 'startTs=0&endTs=9000000000000&limit=50000&orderBy=ASC&useStrictDataTypes=true'
    const path = `/api/plugins/telemetry/ASSET/${building}/values/timeseries?keys=${key}&${range}`
    return (await rest.expect<Record<string, readonly Point[]>>('GET', path))[key] ?? []
  }
  for (const key of ['each second', 'each message']) {
    const deadline = performance.now() + 90_000 * SLOWNESS
    let points = await read(key)
    while (points.at(-1)?.value !== total) {
      assert.ok(performance.now() < deadline, `${key}: ${points.at(-1)?.value} and not ${total}, seed ${random.seed}`)
      await delay(50)
      points = await read(key)
    }
    assert.equal(new Set(points.map(({ ts }) => ts)).size, points.length, `${key}: seed ${random.seed}`)
    for (const [index, { ts, value }] of points.entries()) {
      assert.ok(value >= (points[index - 1]?.value ?? 0), `${key}: ${value} after a larger sum, seed ${random.seed}`)
      if (key === 'each second') assert.equal(ts % 1000, 0)
    }
    context.diagnostic(`${key}: ${points.length} sums, seed ${random.seed}`)
  }
})

async function send(millrace: RunningMillrace, device: number, value: number): Promise<void> {
  const url = `${millrace.url}/api/v1/${TOKEN}${device}/telemetry`
  const body = JSON.stringify({ value })
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  assert.equal(answer.status, 200)
}

/** An asset that contains devices, and a root chain that stores values and sums; its id. */
async function makeBuilding(millrace: RunningMillrace): Promise<string> {
  const rest = new RestClient(millrace, await login(millrace))
  const building = await rest.expect<{ id: { id: string } }>('POST', '/api/asset', { name: 'building' })
  for (let index = 0; index < DEVICES; index++) {
    const id = await rest.createDevice(`grouped ${index}`, `${TOKEN}${index}`)
    const to = { entityType: 'DEVICE', id }
    await rest.expect('POST', '/api/relation', { from: building.id, to, type: 'Contains', typeGroup: 'COMMON' })
  }
  const chain = await rest.expect<{ id: { id: string } }>('POST', '/api/ruleChain', { name: 'sums' })
  const save = (name: string) => ({
    ...{ type: 'org.thingsboard.rule.engine.telemetry.TbMsgTimeseriesNode', name, configurationVersion: 1 },
    configuration: { defaultTTL: 0, useServerTs: false, processingSettings: { type: 'ON_EVERY_MESSAGE' } },
  })
  const sum = (trigger: 'PERIOD' | 'MESSAGE', outputKey: string) => ({
    ...{ type: 'millrace.analytics.AggregateLatest', name: outputKey, configurationVersion: 0 },
    configuration: {
      ...{ trigger, periodSec: 1, parent: 'ENTITY', parentType: 'ASSET', parentId: building.id.id, members: 'RELATED' },
      relations: { direction: 'FROM', relationTypes: ['Contains'], maxLevel: 1, fetchLastLevelOnly: false },
      ...{ entityType: 'DEVICE', profiles: [], useFilter: false, filterKeys: [] },
      ...{ scriptLang: 'TBEL', jsScript: '', tbelScript: '' },
      metrics: [{ source: 'LATEST_TELEMETRY', key: 'value', function: 'SUM', missing: null, outputKey }],
    },
  })
  await rest.expect('POST', '/api/ruleChain/metadata', {
    ...{ ruleChainId: chain.id, firstNodeIndex: 0 },
    nodes: [save('save values'), sum('MESSAGE', 'each message'), sum('PERIOD', 'each second'), save('save sums')],
    connections: [
      { fromIndex: 0, toIndex: 1, type: 'Success' },
      { fromIndex: 1, toIndex: 3, type: 'Success' },
      { fromIndex: 2, toIndex: 3, type: 'Success' },
    ],
  })
  await rest.expect('POST', `/api/ruleChain/${chain.id.id}/root`)
  return building.id.id
}
