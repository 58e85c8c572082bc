/**
 * The short version of the fault campaign (`npm run test:faults` is the long one): one round each of a dozen faults, in one world of
 * real processes and servers a shape. Every value that was acknowledged is read back once, in order, and nothing else is there.
 */
import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import { requireOwnServer } from '../support/servers/index.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { ALL_FAULTS, openStage, randomOfRound, readAllAgain, runOn, type Stage } from './campaign/campaign.ts'
import type { Fault } from './campaign/fault.ts'

const { seed } = seededRandom()
const stages = new Map<Fault['shape'], Promise<Stage | string>>()
let round = 0

/** Started by the first test that needs it. */
function stageFor(fault: Fault): Promise<Stage | string> {
  const stage = stages.get(fault.shape) ?? openStage(fault, seed)
  stages.set(fault.shape, stage)
  return stage
}

after(async () => {
  for (const opening of stages.values()) {
    const stage = await opening
    if (typeof stage !== 'string') await stage.close()
  }
})

function faultTest(title: string, shape: Fault['shape'], name: string): void {
  test(title, { timeout: 600_000 }, async (context) => {
    const fault = ALL_FAULTS.find((one) => one.shape === shape && one.name === name)
    assert.ok(fault !== undefined, `no fault "${name}" for ${shape}`)
    assert.ok(title.startsWith(`${fault.row}: `), `"${name}" is evidence for ${fault.row}`)
    if (shape !== 'embedded' && !requireOwnServer(context, 'nats', 'postgres', 'questdb')) return
    const stage = await stageFor(fault)
    if (typeof stage === 'string') return context.skip(stage)
    await oneRound(context, stage, fault)
  })
}

async function oneRound(context: TestContext, stage: Stage, fault: Fault): Promise<void> {
  const { findings, ...figures } = await runOn(stage, fault, randomOfRound(seed, ++round))
  context.diagnostic(
    `seed ${seed}: sent ${figures.sent}, acknowledged ${figures.acknowledged}, refused ${figures.refused}, unknown ${figures.unknown}, ` +
      `found ${figures.found}, lost ${figures.lost}, duplicated ${figures.duplicated}, out of order ${figures.outOfOrder}; ` +
      `recovered ${figures.recoveredFromHealMs} ms after the heal, longest silence ${figures.longestSilenceMs} ms`,
  )
  assert.deepEqual(findings, [], `repeat with SEED=${seed}`)
}

faultTest('D2: SIGKILL of an engine loses nothing', 'production', 'SIGKILL of an engine')
faultTest(
  'D2: SIGKILL of a transport loses nothing, its devices go on at the other',
  'production',
  'SIGKILL of a transport',
)
faultTest('D2: SIGKILL of NATS loses nothing', 'production', 'SIGKILL of NATS')
faultTest('D2: SIGKILL of PostgreSQL loses nothing', 'production', 'SIGKILL of PostgreSQL')
faultTest('D2: SIGKILL of QuestDB loses nothing', 'production', 'SIGKILL of QuestDB')
faultTest('D2: half-open connections to NATS lose nothing', 'production', 'half-open connections to NATS')
faultTest('B1: a slow network to QuestDB loses nothing', 'production', 'a slow network to QuestDB')
faultTest(
  'K1: an engine that leaves and comes again loses nothing and keeps the order',
  'production',
  'an engine removed (SIGTERM) and added again',
)
faultTest(
  'K2: an engine that slept until others had its partitions doubles nothing',
  'production',
  'SIGSTOP of an engine until others have its partitions',
)
faultTest('K3: an engine alone cut off from NATS owns nothing twice', 'production', 'one engine alone without NATS')
faultTest(
  'Q6: a root chain that is replaced and redrawn under load loses nothing',
  'production',
  'the root chain replaced and redrawn again and again',
)
faultTest('Q3: a killed script sandbox loses nothing', 'production', 'SIGKILL of a script sandbox')
faultTest('Q3: a script out of memory loses nothing of its neighbours', 'production', 'a script out of memory')
faultTest('D2: SIGKILL of one of three NATS nodes loses nothing', 'nats-cluster', 'SIGKILL of one of three NATS nodes')
faultTest(
  'D1: SIGKILL of the one process of the embedded default loses nothing',
  'embedded',
  'SIGKILL of the one process',
)

test('O5: what was delivered again after all of these faults has changed nothing that was read before', async () => {
  for (const opening of stages.values()) {
    const stage = await opening
    if (typeof stage === 'string') continue
    assert.ok(stage.journals.length > 0, 'no round was run')
    assert.deepEqual(await readAllAgain(stage), [], `repeat with SEED=${seed}`)
  }
})
