import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { RuleNodeDefinition } from '../define-node.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { clearAlarm } from './clear-alarm.ts'
import { createAlarm } from './create-alarm.ts'

const DEVICE = entityId('DEVICE', '55555555-5555-4555-8555-555555555555')
const SCRIPT = {
  scriptLang: 'TBEL',
  alarmDetailsBuildTbel: 'return {v: msg.v, before: metadata.prevAlarmDetails ?? null}',
}
const HOT = { ...SCRIPT, alarmType: 'Hot', severity: 'MAJOR' }

async function run(
  definition: RuleNodeDefinition,
  configuration: JsonObject,
  context: ReturnType<typeof testContext>,
  data = '{"v":1}',
  originator = DEVICE,
  metadata: Readonly<Record<string, string>> = { ts: '5000' },
) {
  const node = await createNode(definition, configuration, context)
  const message = testMessage({
    data,
    originatorType: originator.entityType,
    originatorId: originator.id,
    metadata,
  })
  const [result] = await runNode(node, message)
  await node.close?.()
  const [emission] = result?.emissions ?? []
  return { relation: emission?.relations[0], message: emission?.message, reason: result?.error?.message }
}

test('the first message raises the alarm at its own time, the second updates it until now', async () => {
  const context = testContext()
  const first = await run(createAlarm, HOT, context)
  assert.equal(first.relation, 'Created')
  assert.equal(first.message?.type, 'ALARM')
  assert.equal(first.message?.metadata['isNewAlarm'], 'true')
  const second = await run(createAlarm, { ...HOT, severity: 'CRITICAL' }, context, '{"v":2}')
  assert.equal(second.relation, 'Updated')
  assert.equal(second.message?.metadata['isExistingAlarm'], 'true')
  const [raised, updated] = context.fakes.alarms.drafts
  assert.deepEqual([raised?.startTs, raised?.endTs, raised?.details], [5000, 5000, { v: 1, before: null }])
  assert.deepEqual([updated?.startTs, updated?.endTs, updated?.severity], [5000, context.clock.now(), 'CRITICAL'])
  assert.deepEqual(updated?.details, { v: 2, before: '{"v":1,"before":null}' })
  assert.equal(context.openScripts(), 0)
})

test("the originator's chain is told in a message that names the node alone", async () => {
  const context = testContext()
  await run(createAlarm, HOT, context)
  await run(createAlarm, HOT, context)
  await run(clearAlarm, { ...SCRIPT, alarmType: 'Hot' }, context)
  assert.deepEqual(
    context.enqueued.map(({ type, metadata }) => [type, metadata]),
    ['ENTITY_CREATED', 'ENTITY_UPDATED', 'ALARM_CLEAR'].map((type) => [type, { ruleNodeId: context.ruleNodeId }]),
  )
})

test('the alarm may stand in the message, with details of its own or of the script', async () => {
  const context = testContext()
  const body = '{"type":"Cold","severity":"MINOR","details":{"a":1},"startTs":7000,"propagate":true}'
  await run(createAlarm, { ...SCRIPT, useMessageAlarmData: true, overwriteAlarmDetails: false }, context, body)
  // Old files do not say it: then the script counts.
  await run(createAlarm, { ...SCRIPT, useMessageAlarmData: true }, context, body)
  const [own, scripted] = context.fakes.alarms.drafts
  assert.deepEqual(
    [own?.type, own?.severity, own?.startTs, own?.propagate, own?.details],
    ['Cold', 'MINOR', 7000, true, { a: 1 }],
  )
  assert.deepEqual(scripted?.details, { before: '{"a":1}' })
})

test('an alarm from the message begins when it says, or now, whatever the time of the message', async () => {
  const context = testContext()
  const fromMessage = { ...SCRIPT, useMessageAlarmData: true, overwriteAlarmDetails: false }
  await run(createAlarm, fromMessage, context, '{"type":"Cold","severity":"MINOR"}')
  await run(createAlarm, fromMessage, context, '{"type":"Warm","severity":"MINOR","endTs":7000}')
  const now = context.clock.now()
  assert.deepEqual(
    context.fakes.alarms.drafts.map(({ startTs, endTs }) => [startTs, endTs]),
    [
      [now, now],
      [7000, 7000],
    ],
  )
})

test('a severity that is none does not start, unless it is a pattern', async () => {
  await assert.rejects(createNode(createAlarm, { ...HOT, severity: 'HUGE' }, testContext()), /severity/)
  const { relation } = await run(
    createAlarm,
    { ...HOT, severity: '$[s]', dynamicSeverity: true },
    testContext(),
    '{"s":"MINOR"}',
  )
  assert.equal(relation, 'Created')
})

test('a script that fails raises nothing', async () => {
  const context = testContext()
  const { relation } = await run(createAlarm, { ...HOT, alarmDetailsBuildTbel: 'return msg.a.b.c' }, context)
  assert.equal(relation, 'Failure')
  assert.deepEqual(context.fakes.alarms.drafts, [])
})

test('an active alarm is cleared, by its type or as the originator; an alarm that is not active is False', async () => {
  const context = testContext()
  const configuration = { ...SCRIPT, alarmType: '$[kind]' }
  assert.equal((await run(clearAlarm, configuration, context, '{"kind":"Hot"}')).relation, 'False')
  await run(createAlarm, HOT, context)
  const cleared = await run(clearAlarm, configuration, context, '{"kind":"Hot","v":9}')
  assert.equal(cleared.relation, 'Cleared')
  assert.equal(cleared.message?.metadata['isClearedAlarm'], 'true')
  const { alarm } = await context.fakes.alarms.raise({ originator: DEVICE, type: 'Cold', severity: 'MINOR' })
  const itself = entityId('ALARM', alarm.id)
  assert.equal((await run(clearAlarm, configuration, context, '{}', itself)).relation, 'Cleared')
  assert.equal((await run(clearAlarm, configuration, context, '{}', itself)).relation, 'False')
})

test('backfill raises and clears no alarm, unless the node takes it', async () => {
  const late = { ts: '5000', backfill: 'true' }
  const context = testContext()
  assert.equal((await run(createAlarm, HOT, context, undefined, undefined, late)).relation, 'False')
  assert.equal(context.fakes.alarms.drafts.length, 0)
  const taking = { processBackfill: true }
  assert.equal((await run(createAlarm, { ...HOT, ...taking }, context, undefined, undefined, late)).relation, 'Created')
  const clear = { ...SCRIPT, alarmType: 'Hot' }
  assert.equal((await run(clearAlarm, clear, context, undefined, undefined, late)).relation, 'False')
  const cleared = await run(clearAlarm, { ...clear, ...taking }, context, undefined, undefined, late)
  assert.equal(cleared.relation, 'Cleared')
})
