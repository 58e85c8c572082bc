/** Aggregations in processes that are cut, whose commits are refused or not answered, and whose messages come again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { ManualClock, SeededRandom } from '../../model/manual-clock.ts'
import type { Message } from '../../model/message.ts'
import { chainOf, loaded, testEngine, testWork, TENANT_ID, type TestWork } from '../../engine/rulechain/testkit.ts'
import { NodeStates } from '../../engine/state/node-states.ts'
import { MemoryStateStore, type PlantedBug } from '../../engine/state/testkit.ts'
import { entityId } from '../../model/entity-id.ts'
import { FakeAggregation } from '../fakes/aggregation.ts'
import { FakeAlarms } from '../fakes/alarms.ts'
import { FakeAttributes } from '../fakes/attributes.ts'
import { FakeEntities } from '../fakes/entities.ts'
import { FakeHistory } from '../fakes/history.ts'
import { FakeRelations } from '../fakes/relations.ts'
import { TestScripts } from '../testkit.ts'
import { aggregateLatest } from './aggregate-latest.ts'

const PERIOD_MS = 60_000
const MESSAGES = 16
const METRICS = [{ source: 'LATEST_TELEMETRY', key: 't', function: 'SUM', missing: null, outputKey: 'sum' }]

/** Throws where one id says two things, a period is told twice, or a value that never was. */
async function runWorld(seed: number, trigger: 'PERIOD' | 'MESSAGE', bug?: PlantedBug): Promise<number> {
  const random = new SeededRandom(seed)
  const clock = new ManualClock()
  const store = new MemoryStateStore(bug)
  const entities = new FakeEntities(TENANT_ID)
  const history = new FakeHistory()
  const device = entityId('DEVICE', 'd0')
  entities.add({ id: device, name: 'Device' })
  const values = new Set<number>()
  const change = (): void => {
    const value = values.size + 1
    values.add(value)
    history.add(device, { key: 't', type: 'LONG', value, ts: value })
  }
  change()
  const said = new Map<string, Set<string>>()
  const toldAt = new Map<string, Set<string>>()
  const see = ({ id, data, metadata }: Message): void => {
    said.set(id, (said.get(id) ?? new Set()).add(`${metadata['ts']} ${data}`))
    const at = metadata['ts'] ?? ''
    toldAt.set(at, (toldAt.get(at) ?? new Set()).add(id))
    const { sum } = z.object({ sum: z.number() }).parse(JSON.parse(data))
    assert.ok(values.has(sum), `${sum} was no value`)
  }
  const messages = Array.from({ length: trigger === 'MESSAGE' ? MESSAGES : 0 }, (_, index) => {
    const { message } = testWork({ id: `${seed} ${index}`, device: 'd0' })
    message.sequence = index
    return message
  })
  const settled = new Set<number>()
  const settledBelow = (): number => messages.find(({ sequence }) => !settled.has(sequence))?.sequence ?? MESSAGES
  const open = async () => {
    const log = {
      publish: (message: Message, receipt: { stored: () => void }) => {
        see(message)
        receipt.stored()
      },
      ...{ streamOf: () => 0, settledBelow },
    }
    const states = new NodeStates({ store, clock, log, serviceId: 'here', report: () => undefined })
    const world = { entities, history, attributes: new FakeAttributes(), alarms: new FakeAlarms(() => clock.now()) }
    const aggregation = new FakeAggregation({
      ...{ ...world, relations: new FakeRelations(() => undefined) },
      soon: (run) => clock.soon(run),
    })
    const configuration = { ...aggregateLatest.defaultConfiguration, trigger, metrics: METRICS }
    const tested = testEngine(
      {
        group: (context) => {
          const services = { ...context.services, aggregation, entities, scripts: new TestScripts() }
          return aggregateLatest.create(configuration, { ...context, services })
        },
        end: () => ({ handle: (message) => void see(message) }),
      },
      {},
      { publish: () => assert.fail('nothing is enqueued') },
      { clock, capabilities: { state: (identity) => states.of(identity) } },
    )
    await states.taken(0)
    const { chain, graph } = chainOf('chain', [{ type: 'group' }, { type: 'end' }], [[0, 'Success', 1]])
    const { nodes } = await loaded(clock, tested.engine.load(chain, graph))
    for (const { error } of nodes) assert.equal(error, undefined)
    return { run: (...works: readonly TestWork[]) => tested.run(...works) }
  }
  store.fate = () => (random.next() < 0.7 ? 'done' : random.next() < 0.5 ? 'unanswered' : 'refused')
  let [old, owner] = [await open(), await open()]
  for (let round = 0; round < 40 || settled.size < messages.length; round++) {
    assert.ok(round < 1_000, 'it comes to an end')
    if (round === 300) store.fate = () => 'done'
    if (random.next() < 0.2) [old, owner] = [owner, await open()]
    if (random.next() < 0.5) change()
    if (trigger === 'PERIOD') {
      await clock.advance(Math.floor(random.next() * PERIOD_MS))
      continue
    }
    const batch = messages.filter(({ sequence }) => !settled.has(sequence) && random.next() < 0.4)
    const works = batch.map((message) => testWork({ ...message, id: message.id }))
    for (const [index, { message }] of works.entries()) message.sequence = batch[index]?.sequence ?? 0
    await (random.next() < 0.15 ? old : owner).run(...works)
    for (const { message, isSettled, errors } of works)
      if (isSettled && errors.length === 0 && random.next() < 0.6) settled.add(message.sequence)
    await clock.advance(1_000)
  }
  for (const outcomes of said.values()) assert.equal(outcomes.size, 1, 'a message said two things')
  if (trigger === 'PERIOD') for (const ids of toldAt.values()) assert.equal(ids.size, 1, 'a period was told twice')
  else assert.equal(said.size, MESSAGES)
  return said.size
}

for (const trigger of ['PERIOD', 'MESSAGE'] as const) {
  test(`whatever is cut, refused, unanswered or redelivered, one ${trigger.toLowerCase()} says one thing`, async () => {
    const first = Number(process.env['SEED'] ?? 1)
    const runs = Number(process.env['RUNS'] ?? 30)
    let told = 0
    for (let seed = first; seed < first + runs; seed++) {
      told += await runWorld(seed, trigger).catch((error: unknown) => {
        throw new Error(`SEED=${seed} RUNS=1 repeats it`, { cause: error })
      })
    }
    assert.ok(told >= 3 * runs, `${told} were told in ${runs} runs`)
  })
}

test('sees the planted bug: a state without its visits', async () => {
  let seen = 0
  for (let seed = 1; seed <= 20; seed++) await runWorld(seed, 'MESSAGE', 'state without visits').catch(() => seen++)
  assert.ok(seen > 0)
})
