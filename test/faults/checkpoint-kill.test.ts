/**
 * Nothing acknowledged is lost on the way from queue to queue: every message goes through two checkpoints before it is saved, and the
 * process is killed (SIGKILL) again and again under load. `ROUNDS` sets how often (`npm run test:kills`: 20).
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { RestClient, login } from '../support/clients.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { compareAll, createDevices } from './fault-run.ts'
import { startLoad } from './workload.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 2)
const FEWEST_ACKNOWLEDGEMENTS = 250 * ROUNDS
const DEVICES = 8
const PREFIX = 'org.thingsboard.rule.engine.'

test(
  `no acknowledged point is lost, doubled or out of order behind checkpoints over ${ROUNDS} kills under load`,
  { timeout: 600_000 },
  async (context) => {
    const random = seededRandom()
    const dataDir = await mkdtemp(join(tmpdir(), 'millrace-checkpoint-'))
    let millrace: RunningMillrace | undefined
    context.after(async () => {
      await millrace?.kill()
      await rm(dataDir, { recursive: true, force: true })
    })
    millrace = await startMillrace({ dataDir })
    await makeRootChain(millrace)
    const devices = await createDevices(millrace, DEVICES)
    for (let round = 1; round <= ROUNDS; round++) {
      const load = await startLoad(millrace, devices)
      await delay(random.between(300, 900))
      // On a slow machine it takes longer to have as many.
      while (load.acknowledged() < FEWEST_ACKNOWLEDGEMENTS / ROUNDS) await delay(10)
      await millrace.kill()
      await load.end()
      millrace = await startMillrace({ dataDir })
    }
    const report = await compareAll(millrace, devices)
    const through = await received(millrace)
    context.diagnostic(
      `seed ${random.seed}: sent ${report.sent}, acknowledged ${report.acknowledged}, found ${report.found}, lost ${report.lost}, ` +
        `duplicated ${report.duplicated}, out of order ${report.outOfOrder}`,
    )
    assert.ok(report.acknowledged >= FEWEST_ACKNOWLEDGEMENTS, `void: only ${report.acknowledged} acknowledgements`)
    assert.ok(through > 0, 'nothing went through the checkpoints after the last start')
    assert.deepEqual(report.findings, [], `repeat with SEED=${random.seed}`)
  },
)

async function makeRootChain(millrace: RunningMillrace): Promise<void> {
  const rest = new RestClient(millrace, await login(millrace))
  const chain = await rest.expect<{ id: { id: string } }>('POST', '/api/ruleChain', { name: 'two checkpoints' })
  const checkpoint = (queueName: string) => ({
    type: `${PREFIX}flow.TbCheckpointNode`,
    name: queueName,
    queueName,
    configurationVersion: 1,
    configuration: {},
  })
  await rest.expect('POST', '/api/ruleChain/metadata', {
    ruleChainId: chain.id,
    firstNodeIndex: 0,
    nodes: [
      checkpoint('SequentialByOriginator'),
      checkpoint('HighPriority'),
      {
        type: `${PREFIX}telemetry.TbMsgTimeseriesNode`,
        name: 'save',
        configurationVersion: 1,
        configuration: { defaultTTL: 0, useServerTs: false, processingSettings: { type: 'ON_EVERY_MESSAGE' } },
      },
    ],
    connections: [
      { fromIndex: 0, toIndex: 1, type: 'Success' },
      { fromIndex: 1, toIndex: 2, type: 'Success' },
    ],
  })
  await rest.expect('POST', `/api/ruleChain/${chain.id.id}/root`)
}

/** Messages that came to the last of the queues. */
async function received(millrace: RunningMillrace): Promise<number> {
  const text = await (await fetch(`${millrace.url}/metrics`)).text()
  const found = /^millrace_queues_received_messages_total\{queue="HighPriority"\} (\d+)/m.exec(text)
  return Number(found?.[1] ?? 0)
}
