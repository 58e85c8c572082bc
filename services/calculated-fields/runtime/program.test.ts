import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configuration as configurationSchema } from '../../../model/calculated-fields/configuration.ts'
import { hidingState, type ArgumentNeed } from '../../../model/calculated-fields/kind.ts'
import type { CalculatedFieldType } from '../../../model/calculated-fields/configuration.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import { parseJson, stringifyJson, type JsonValue } from '../../../model/json.ts'
import { Message } from '../../../model/message.ts'
import { ManualClock, SeededRandom } from '../../../model/manual-clock.ts'
import { Turn } from '../../../engine/state/turn.ts'
import { DEFAULT_LIMITS } from '../../entities/tenant-limits.ts'
import { calculatedFields } from '../../entities/calculated-field.ts'
import { recordWith } from '../../entities/rows.ts'
import { CalculationTime, NO_LIMITS } from './bounds.ts'
import { calculate } from './calculation.ts'
import { FieldDebug } from './debug.ts'
import type { ActiveField } from './field-index.ts'
import { calculationNode } from './program.ts'
import type { Held } from './held.ts'
import { payloadOf, TRIGGER_TYPE, type ValuesNews } from './payload.ts'
import type { Known, LoadedField } from './reader.ts'
import { stateJson, stateOf, type FieldState } from './states.ts'
import { CalculationTriggers } from './triggers.ts'

const DEVICE: EntityId = { entityType: 'DEVICE', id: '11111111-1111-4111-8111-111111111111' }
const OWNER: EntityId = { entityType: 'TENANT', id: 'tenant' }
const OWN: ArgumentNeed = { origin: { from: 'own' }, key: 'temperature', type: 'TS_LATEST' }

function reloading(need: ArgumentNeed): ActiveField {
  return {
    record: recordWith(calculatedFields, { id: 'f', createdTime: 1, version: 1, tenantId: 'tenant' }, { name: 'f' }),
    owner: DEVICE,
    configuration: configurationSchema.parse({
      ...{ type: 'SIMPLE', expression: 't', output: { type: 'TIME_SERIES', name: 'o' } },
      arguments: { t: { refEntityKey: { key: 'temperature', type: 'TS_LATEST' } } },
    }),
    field: hidingState<number>({
      needs: { arguments: { t: need }, reloadEveryMs: 1000 },
      parse: Number,
      step: () => ({ state: 1, results: [] }),
    }),
    failure: undefined,
  }
}

function knownOf(active: ActiveField): Known {
  const facts = { tenantId: 'tenant', customerId: null, owner: OWNER, profile: undefined }
  return {
    ...{ facts: { ...facts, ruleChainId: null, queueName: null }, fields: [active], limits: DEFAULT_LIMITS },
    ...{ payload: undefined, loaded: new Map(), targets: new Map(), factsOf: new Map(), forwards: [] },
  }
}

function nodeOf(known: Known, now: number) {
  return calculationNode({
    ...{ tenantId: 'tenant', now: () => now, reader: { read: () => Promise.resolve(known) } },
    debug: new FieldDebug({ add: () => undefined }, new ManualClock(now)),
    counts: { calculated: 0, failed: 0, results: 0, forwarded: 0 },
    time: new CalculationTime(new ManualClock(now)),
  })
}

function messageAt(ts: number): Message {
  const fields = { id: 'm', ts, type: TRIGGER_TYPE, tenantId: 'tenant', originator: DEVICE, metadata: {}, data: '' }
  return new Message(fields)
}

/** When the entity is woken next, after it was woken at that time and nothing was read. */
function wokenAt(now: number, active: ActiveField, held: FieldState): number | undefined {
  const known = knownOf(active)
  const node = nodeOf(known, now)
  const state = stateJson({ entity: [DEVICE.entityType, DEVICE.id], owner: OWNER.id, fields: { f: held } })
  const turn = new Turn<JsonValue>(DEVICE, now, state, null, 0)
  node.wake?.(turn, known)
  return turn.wakesAt
}

test('a time that has passed and of which nothing came does not come again at once, for ever', () => {
  const held: FieldState = { version: 1, args: { t: { one: [1, 1] } }, own: 1, reloadAt: 2000 }
  assert.equal(wokenAt(2000, reloading(OWN), held), 62_000)
  const later: FieldState = { ...held, reloadAt: 2500 }
  assert.equal(wokenAt(2000, reloading(OWN), later), 2500)
})

test('a state that is changed in place says what one says that is read from its text and made anew', () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9))
  const random = new SeededRandom(seed)
  const related: ArgumentNeed = { ...OWN, origin: { from: 'related', levels: [] }, many: true }
  const needs: Readonly<Record<string, ArgumentNeed>> = {
    ...{ t: OWN, u: { ...OWN, key: 'u', type: 'ATTRIBUTE', scope: 'SERVER_SCOPE', defaultValue: '7' } },
    ...{ w: { ...OWN, type: 'TS_ROLLING', limit: 3 }, o: { ...OWN, origin: { from: 'owner' } }, r: related },
  }
  const field = hidingState<number>({
    needs: { arguments: needs, optional: new Set(Object.keys(needs)), reloadEveryMs: 20 },
    parse: Number,
    step: (state, { now, updates }) => {
      if (updates.some(({ value }) => value === 13)) throw new Error('unlucky')
      const wakeAt = now % 3 === 0 ? now + 500 : undefined
      return { state: now % 5 === 0 ? null : (state ?? 0) + 1, results: [], ...(wakeAt !== undefined && { wakeAt }) }
    },
  })
  const active = { ...reloading(OWN), field }
  const second = { ...active, record: { ...active.record, id: 'g' } }
  const owner: EntityId = { entityType: 'CUSTOMER', id: 'customer' }
  const sources: Held['sources'] = [[owner.entityType, owner.id]]
  const loadedOf = (): LoadedField => ({ args: { t: {}, u: {}, w: {}, o: { sources }, r: { sources, many: [] } } })
  let inPlace: JsonValue | undefined
  let text: string | undefined
  for (let now = 1; now <= 500; now++) {
    const isOwn = random.next() < 0.7
    const points: ValuesNews['values'] = Array.from({ length: 1 + random.below(3) }, () => {
      return [random.next() < 0.8 ? 'temperature' : 'u', now - random.below(4), random.below(16)]
    })
    const isAttribute = random.next() < 0.3
    const payload: ValuesNews = {
      ...{ kind: 'values', source: isAttribute ? 'SERVER_SCOPE' : 'series', values: points, type: '' },
      ...{ deleted: isAttribute && random.next() < 0.5 ? ['u'] : [], from: isOwn ? undefined : owner },
    }
    const fields = random.next() < 0.05 ? [active] : [active, second]
    const held = inPlace === undefined ? {} : stateOf(inPlace).fields
    const begin = fields.filter(({ record }) => held[record.id] === undefined || random.next() < 0.1)
    // Of another owner before, it is made anew.
    const read = text === undefined ? undefined : stateJson({ ...stateOf(parseJson(text)), owner: 'another' })
    const turns = [inPlace, read].map((state) => {
      const loaded = new Map(begin.map(({ record }) => [record.id, loadedOf()]))
      const known: Known = { ...knownOf(active), payload, fields, loaded }
      const turn = new Turn<JsonValue>(DEVICE, now, state, null, 0)
      nodeOf(known, now).handle(turn, messageAt(now), known)
      return turn
    })
    const [text1, text2] = turns.map(({ state }) => (state === undefined ? undefined : stringifyJson(state)))
    assert.equal(text1, text2, `step ${now} of SEED=${seed}`)
    assert.deepEqual(turns[0]?.wakesAt, turns[1]?.wakesAt)
    inPlace = turns[0]?.state
    text = text1
  }
})

test('a field none of whose arguments is looked up anew asks for no time to do so', () => {
  const began = (need: ArgumentNeed) =>
    calculate(reloading(need), undefined, {
      ...{ entity: DEVICE, now: 2000, news: undefined, loaded: { args: { t: { one: [1, 1] } } } },
      ...{ targets: [], limits: NO_LIMITS },
    }).state.reloadAt
  assert.equal(began(OWN), undefined)
  assert.equal(began({ ...OWN, origin: { from: 'owner' } }), 3000)
})

test('a relation that was changed behind its own result is read by from then on, and nothing is calculated of it', () => {
  const related: ArgumentNeed = { ...OWN, origin: { from: 'related', levels: [] } }
  const field = hidingState<number>({
    needs: { arguments: { t: OWN, r: related } },
    parse: Number,
    step: (state, { entity, args: { r } }) => ({
      state: (state ?? 0) + 1,
      results: [{ kind: 'values', entity, ts: 5, values: { o: r?.kind === 'single' ? r.value : null } }],
    }),
  })
  const active = { ...reloading(OWN), field }
  const place = (id: string): Held => ({ sources: [['ASSET', id]], one: [1, id] })
  // A turn changes its state in place.
  const held = (r = place('one')): FieldState => ({ version: 1, args: { t: { one: [1, 1] }, r }, own: 3 })
  const stateOfField = (fieldState: FieldState) =>
    stateJson({ entity: [DEVICE.entityType, DEVICE.id], owner: OWNER.id, fields: { f: fieldState } })
  const turnOf = (
    state: JsonValue,
    payload: Known['payload'],
    loaded: Held | undefined,
    behind?: readonly string[],
  ) => {
    const read = new Map<string, LoadedField>(loaded === undefined ? [] : [['f', { args: { r: loaded } }]])
    const known: Known = { ...knownOf(active), payload, loaded: read }
    const turn = new Turn<JsonValue>(DEVICE, 10, state, null, 0)
    nodeOf(known, 10).handle(turn, messageAt(10).with({ calculatedFieldIds: behind }), known)
    return turn
  }
  const before = stateOfField(held())
  const own = turnOf(before, { kind: 'related' }, place('other'), ['f'])
  assert.deepEqual(own.sent, [])
  assert.ok(own.state !== undefined)
  assert.deepEqual(stateOf(own.state).fields['f'], held(place('other')))
  const values: ValuesNews['values'] = [['temperature', 9, 2]]
  const news: ValuesNews = { kind: 'values', source: 'series', values, type: '', deleted: [], from: undefined }
  const sentOf = (turn: Turn<JsonValue>) => turn.sent.map(({ message }) => parseJson(message.data))
  assert.deepEqual(sentOf(turnOf(own.state, news, undefined)), [{ ts: 5, values: { o: 'other' } }])
  const others = turnOf(stateOfField(held()), { kind: 'related' }, place('other'), ['another field'])
  assert.deepEqual(sentOf(others), [{ ts: 5, values: { o: 'other' } }])
})

test('backfill is calculated, and what comes of it is backfill; alarm rules let it pass', async () => {
  const published: Message[] = []
  const link = { publish: (message: Message) => void published.push(message) }
  const index = { pending: () => undefined, of: () => ({ wants: () => true }) }
  const triggers = new CalculationTriggers({ link, clock: new ManualClock(1), index })
  const cause = { id: 'm n', ts: 1, type: 'POST_TELEMETRY_REQUEST', calculatedFieldIds: [], isBackfill: true }
  const points = [{ key: 'temperature', ts: 5, type: 'LONG', value: 7 }] as const
  const change = { tenantId: 'tenant', entity: DEVICE, values: { kind: 'series', points }, cause } as const
  triggers.handOver(change, () => undefined)
  const [trigger] = published
  assert.ok(trigger?.isBackfill === true)
  const held: FieldState = { version: 1, args: { t: { one: [1, 1] } }, own: 0 }
  const turnOf = (type: CalculatedFieldType) => {
    const plain = reloading(OWN)
    const field = hidingState<number>({
      needs: { arguments: { t: OWN } },
      parse: Number,
      step: (state, { entity }) => ({
        state: (state ?? 0) + 1,
        results: [{ kind: 'values', entity, ts: 5, values: { o: 1 } }],
      }),
    })
    const known = knownOf({ ...plain, field, record: { ...plain.record, type } })
    const state = stateJson({ entity: [DEVICE.entityType, DEVICE.id], owner: OWNER.id, fields: { f: held } })
    const turn = new Turn<JsonValue>(DEVICE, 10, state, null, 0)
    nodeOf(known, 10).handle(turn, trigger, { ...known, payload: payloadOf(trigger.json()) })
    return turn
  }
  const simple = turnOf('SIMPLE')
  assert.equal(simple.isSet, true)
  assert.deepEqual(
    simple.sent.map(({ message }) => message.metadata),
    [{ calculatedFieldName: 'f', backfill: 'true' }],
  )
  const alarm = turnOf('ALARM')
  assert.deepEqual([alarm.isSet, alarm.sent], [false, []])
})
