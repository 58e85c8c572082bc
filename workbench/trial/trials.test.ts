import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { stampingObserver } from '../../engine/device/owner/stamping.ts'
import type { CompleteSources } from '../../engine/rulechain/capabilities.ts'
import { StatesInMemory } from '../../engine/state/memory-store.ts'
import { createScriptHost } from '../../engine/script/host.ts'
import type { LoggedFrame, LogPosition } from '../../engine/link/link.ts'
import type { TrialOrder, TrialReport, TrialVersions } from '../../model/chain-trial.ts'
import type { Clock } from '../../model/clock.ts'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { SeededRandom } from '../../model/manual-clock.ts'
import { Message, type Metadata } from '../../model/message.ts'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import { catalogue } from '../../nodes/catalogue.ts'
import { World } from '../world.ts'
import { startAt } from './log-reader.ts'
import { TrialEngine } from './trial-engine.ts'
import { Trials } from './trials.ts'

const TENANT = '10000000-0000-4000-8000-00000000000a'
const OTHER = '20000000-0000-4000-8000-00000000000a'
const CHAIN = '30000000-0000-4000-8000-00000000000a'
const DEVICE = entityId('DEVICE', '40000000-0000-4000-8000-00000000000a')
const BEGIN = 1_700_000_000_000

/** Two streams, a frame a message, positions with gaps as a log by bytes has them. */
class TestLog {
  readonly streams = 2
  readonly frames: LoggedFrame[] = []
  readonly published: Message[] = []
  reads = 0

  add(storedAt: number, message: Message, stream = 0): void {
    this.frames.push({ stream, position: 100 + this.frames.length * 37, storedAt, messages: [message] })
  }

  async *read({ stream, position }: LogPosition): AsyncGenerator<LoggedFrame> {
    for (const frame of this.frames) {
      if (frame.stream !== stream || frame.position < position) continue
      this.reads++
      yield frame
    }
  }

  publish(message: Message, receipt: { stored(): void }): void {
    this.published.push(message)
    receipt.stored()
  }
}

let made = 0
function temperature(
  value: number,
  tenantId = TENANT,
  resumption?: Message['resumption'],
  metadata: Metadata = { ts: String(BEGIN) },
): Message {
  return new Message({
    ...{ id: `50000000-0000-4000-8000-${String(++made).padStart(12, '0')}`, ts: BEGIN, tenantId },
    ...{ type: 'POST_TELEMETRY_REQUEST', originator: DEVICE, metadata },
    ...{ data: JSON.stringify({ temperature: value }), resumption },
  })
}

function node(name: string, type: string, configuration: JsonObject) {
  return {
    ...{
      id: systemRandom.uuid(),
      createdTime: 0,
      ruleChainId: CHAIN,
      type: `org.thingsboard.rule.engine.${type}`,
      name,
    },
    ...{ debugSettings: null, singletonMode: false, queueName: null, configurationVersion: 1, configuration },
    ...{ additionalInfo: null, disabledReason: null },
  }
}

/** A filter, and what is done where it says yes. */
function version(limit: number, then: ReturnType<typeof node>) {
  const chain = {
    ...{ id: CHAIN, tenantId: TENANT, createdTime: 0, version: 1, name: 'under trial', type: 'CORE' as const },
    ...{ firstRuleNodeId: null, root: true, debugMode: false, configuration: null, additionalInfo: null },
  }
  const script = { scriptLang: 'TBEL', tbelScript: `return msg.temperature > ${limit};`, jsScript: '' }
  return {
    chain,
    graph: {
      ...{ ruleChainId: CHAIN, version: 1, firstNodeIndex: 0 },
      nodes: [node('is it hot', 'filter.TbJsFilterNode', script), then],
      connections: [{ fromIndex: 0, toIndex: 1, type: 'True' }],
    },
  }
}

const ALARM = {
  ...{ alarmType: 'Hot', severity: 'MAJOR', useMessageAlarmData: false, propagate: false, dynamicSeverity: false },
  ...{ scriptLang: 'TBEL', alarmDetailsBuildTbel: 'return {};', alarmDetailsBuildJs: '', relationTypes: [] },
}
const raise = (severity: string) => node('raise', 'action.TbCreateAlarmNode', { ...ALARM, severity })

function setUp(clock: Clock = systemClock) {
  const log = new TestLog()
  const scripts = createScriptHost({
    ...{ clock, random: systemRandom },
    javaScript: () => assert.fail('no JavaScript here'),
  })
  const world = new World({ tenantId: TENANT, clock, random: new SeededRandom(7), scripts })
  const trials = new Trials({
    ...{ link: log, catalogue, clock, random: systemRandom },
    capabilities: world.sources() as CompleteSources,
    observer: stampingObserver,
    openConfiguration: ({ configuration }) => configuration,
    maskConfiguration: ({ configuration }) => configuration,
  })
  return { log, world, trials }
}

/** What is stored of visits, in characters, after so many messages of one originator. */
async function remembered(messages: number): Promise<number> {
  const { world } = setUp()
  const store = new StatesInMemory()
  const delta = { inputValueKey: 'temperature', outputValueKey: 'delta', useCache: true, periodValueKey: 'period' }
  const tried = version(0, node('delta', 'metadata.CalculateDeltaNode', delta))
  const engine = new TrialEngine({
    ...{ catalogue, chainId: CHAIN, chains: [tried], startMs: BEGIN, store },
    openConfiguration: ({ configuration }) => configuration,
    capabilities: () => world.sources(),
    pause: (sofar) => delay(1, sofar < 1000),
  })
  assert.deepEqual(await engine.load(), [])
  for (let count = 1; count <= messages; count++) assert.equal((await engine.send(temperature(count))).isEnded, true)
  const rows = [...store.states.values()]
  await engine.close()
  assert.equal(rows.length, 1)
  return rows.reduce((sum, { done }) => sum + done.length, 0)
}

function versions(live: TrialVersions['live'], tried: TrialVersions['tried']): TrialVersions {
  return { live, tried, others: [] }
}

const SHADOW: TrialOrder = {
  ...{ kind: 'shadow', tenantId: TENANT, ruleChainId: CHAIN, isReal: false, from: undefined },
  ...{ durationMs: 60_000, maxMessages: 100 },
}
const REPLAY: TrialOrder = { ...SHADOW, kind: 'replay', from: BEGIN }

async function until(trials: Trials, { id }: TrialReport, is: (report: TrialReport) => boolean): Promise<TrialReport> {
  for (;;) {
    const report = trials.report(TENANT, id)
    if (is(report)) return report
    await delay(5)
  }
}

const isOver = ({ phase }: TrialReport): boolean => phase !== 'running'

test('a shadow tells by node where the versions differ in relations and effects, and changes nothing', async () => {
  const { log, world, trials } = setUp()
  const begun = trials.begin(SHADOW, versions(version(20, raise('MAJOR')), version(25, raise('CRITICAL'))))
  for (const value of [10, 22, 30]) log.add(Date.now() + 1, temperature(value))
  log.add(Date.now() + 1, temperature(99, OTHER))
  await until(trials, begun, ({ messages }) => messages === 3)
  const report = await trials.stop(TENANT, begun.id)
  assert.deepEqual([report.phase, report.reachedChain, report.differing, report.failed], ['stopped', 3, 2, 0])
  const told = report.differences.map(({ node: name, what, messages }) => [name, what, messages])
  assert.deepEqual(told.sort(), [
    ['is it hot', 'messages', 1],
    ['is it hot', 'relations', 1],
    ['queue', 'effects', 2],
    ['raise', 'effects', 2],
    ['raise', 'messages', 2],
    ['raise', 'relations', 2],
  ])
  const relation = report.differences.find(({ node: name, what }) => name === 'is it hot' && what === 'relations')
  assert.deepEqual([relation?.examples[0]?.live, relation?.examples[0]?.tried], [['True'], ['False']])
  const effect = report.differences.find(({ node: name, what }) => name === 'raise' && what === 'effects')
  assert.match(JSON.stringify(effect?.examples[1]), /alarm updated.*MAJOR.*alarm created.*CRITICAL/)
  assert.deepEqual(world.effects, [])
  assert.deepEqual(log.published, [])
})

test('the same version beside itself differs in nothing', async () => {
  const { log, trials } = setUp()
  const begun = trials.begin(SHADOW, versions(version(20, raise('MAJOR')), version(20, raise('MAJOR'))))
  for (const value of [10, 22, 30]) log.add(Date.now() + 1, temperature(value))
  await until(trials, begun, ({ messages }) => messages === 3)
  const report = await trials.stop(TENANT, begun.id)
  assert.deepEqual([report.differing, report.differences], [0, []])
  assert.deepEqual(report.nodes.find(({ node: name }) => name === 'is it hot')?.relations, { False: 1, True: 2 })
})

test('a replay begins at its time, takes all streams by time, passes over what goes on, and ends by itself', async () => {
  const { log, world, trials } = setUp()
  log.add(BEGIN - 1000, temperature(90))
  log.add(BEGIN + 10, temperature(30))
  log.add(BEGIN + 5, temperature(21), 1)
  log.add(BEGIN + 20, temperature(40, TENANT, { ruleChainId: CHAIN, ruleNodeId: 'x', executions: 1, callers: [] }))
  const begun = trials.begin(REPLAY, versions(version(20, raise('MAJOR')), version(20, raise('MAJOR'))))
  const report = await until(trials, begun, isOver)
  assert.deepEqual([report.phase, report.reason, report.cut], ['done', undefined, undefined])
  assert.deepEqual([report.messages, report.passedOver, report.retainedFrom], [2, 1, BEGIN - 1000])
  assert.deepEqual(report.nodes.find(({ node: name }) => name === 'raise')?.effects, {
    'alarm created': 1,
    'alarm updated': 1,
  })
  assert.deepEqual(world.effects, [])
})

test('points without a time of their own have in a replay the one that they were stored with', async () => {
  const { log, world, trials } = setUp()
  log.add(BEGIN + 7, temperature(30, TENANT, undefined, {}))
  log.add(BEGIN + 7, temperature(31, TENANT, undefined, {}))
  const configuration = { defaultTTL: 0, useServerTs: false, processingSettings: { type: 'ON_EVERY_MESSAGE' } }
  const save = version(20, node('save', 'telemetry.TbMsgTimeseriesNode', configuration))
  const begun = trials.begin({ ...REPLAY, isReal: true }, versions(save, save))
  await until(trials, begun, isOver)
  assert.deepEqual(
    world.effects.map(({ effect, ts }) => [effect, ts]),
    [
      ['save telemetry', BEGIN + 7],
      ['save telemetry', BEGIN + 8],
    ],
  )
})

test('a real replay does what its nodes do', async () => {
  const { log, world, trials } = setUp()
  log.add(BEGIN, temperature(30))
  const order = { ...REPLAY, isReal: true }
  const begun = trials.begin(order, versions(version(20, raise('MAJOR')), version(20, raise('MAJOR'))))
  await until(trials, begun, isOver)
  assert.deepEqual(
    world.effects.map(({ effect }) => effect),
    ['alarm created'],
  )
})

test('a trial ends at its number of messages, and says so', async () => {
  const { log, trials } = setUp()
  for (let count = 0; count < 10; count++) log.add(BEGIN + count, temperature(30))
  const order = { ...REPLAY, maxMessages: 4 }
  const begun = trials.begin(order, versions(version(20, raise('MAJOR')), version(20, raise('MAJOR'))))
  const report = await until(trials, begun, isOver)
  assert.deepEqual([report.cut, report.messages, report.reached], ['messages', 4, BEGIN + 4])
})

test('a tenant has one at a time, and sees only its own', async () => {
  const { trials } = setUp()
  const both = versions(version(20, raise('MAJOR')), version(20, raise('MAJOR')))
  const begun = trials.begin(SHADOW, both)
  assert.throws(() => trials.begin(SHADOW, both), /Another trial/)
  assert.throws(() => trials.report(OTHER, begun.id), /no such trial/)
  await assert.rejects(async () => trials.stop(OTHER, begun.id), /no such trial/)
  trials.begin({ ...SHADOW, tenantId: OTHER }, both)
  assert.throws(() => trials.begin({ ...SHADOW, tenantId: DEVICE.id }, both), /runs 2 trials/)
  await trials.close()
  assert.equal(trials.report(TENANT, begun.id).phase, 'stopped')
  assert.throws(() => trials.begin(SHADOW, both), /stops/)
})

test('a version that can not run at all is told', async () => {
  const { trials } = setUp()
  const broken = version(20, raise('MAJOR'))
  const tried = { ...broken, graph: { ...broken.graph, connections: [{ fromIndex: 0, toIndex: 9, type: 'True' }] } }
  const report = await until(trials, trials.begin(REPLAY, versions(broken, tried)), isOver)
  assert.equal(report.phase, 'failed')
  assert.match(report.reason ?? '', /9/)
})

test('the place of a time is found without reading what lies before it', async () => {
  const log = new TestLog()
  for (let count = 0; count < 5_000; count++) log.add(BEGIN + Math.floor(count / 3) * 10, temperature(1))
  for (const time of [0, BEGIN, BEGIN + 1, BEGIN + 7_770, BEGIN + 16_659, BEGIN + 16_660, BEGIN + 99_999]) {
    log.reads = 0
    const { position } = await startAt(log, 0, time)
    const expected = log.frames.find(({ storedAt }) => storedAt >= time)
    const first = log.frames.find((frame) => frame.position >= position)
    assert.equal(first, expected, String(time - BEGIN))
    assert.ok(log.reads < 60, `${log.reads} frames were read`)
  }
  assert.deepEqual(await startAt(log, 1, BEGIN), { position: 0, retainedFrom: undefined })
})

test('what nodes remember of messages does not grow with them', async () => {
  assert.ok((await remembered(20)) <= 2 * (await remembered(2)))
})
