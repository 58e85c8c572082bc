import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configuration as configurationSchema } from '../../../model/calculated-fields/configuration.ts'
import { hidingState, type ArgumentNeed } from '../../../model/calculated-fields/kind.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import type { JsonValue } from '../../../model/json.ts'
import { ManualClock } from '../../../model/manual-clock.ts'
import { Turn } from '../../../engine/state/turn.ts'
import { DEFAULT_LIMITS } from '../../entities/tenant-limits.ts'
import { calculatedFields } from '../../entities/calculated-field.ts'
import { recordWith } from '../../entities/rows.ts'
import { calculate } from './calculation.ts'
import { FieldDebug } from './debug.ts'
import type { ActiveField } from './field-index.ts'
import { calculationNode } from './program.ts'
import type { Known } from './reader.ts'
import { stateJson, type FieldState } from './states.ts'

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

/** When the entity is woken next, after it was woken at that time and nothing was read. */
function wokenAt(now: number, active: ActiveField, held: FieldState): number | undefined {
  const facts = { tenantId: 'tenant', customerId: null, owner: OWNER, profile: undefined }
  const known: Known = {
    ...{ facts: { ...facts, ruleChainId: null, queueName: null }, fields: [active], limits: DEFAULT_LIMITS },
    ...{ loaded: new Map(), targets: new Map(), factsOf: new Map(), forwards: [] },
  }
  const node = calculationNode({
    ...{ tenantId: 'tenant', now: () => now, reader: { read: () => Promise.resolve(known) } },
    debug: new FieldDebug({ add: () => undefined }, new ManualClock(now)),
    counts: { calculated: 0, failed: 0, results: 0, forwarded: 0 },
  })
  const state = stateJson({ entity: [DEVICE.entityType, DEVICE.id], owner: OWNER.id, fields: { f: held } })
  const turn = new Turn<JsonValue>(DEVICE, now, state, null)
  node.wake?.(turn, known)
  return turn.wakesAt
}

test('a time that has passed and of which nothing came does not come again at once, for ever', () => {
  const held: FieldState = { version: 1, args: { t: { one: [1, 1] } }, own: 1, reloadAt: 2000 }
  assert.equal(wokenAt(2000, reloading(OWN), held), 62_000)
  const later: FieldState = { ...held, reloadAt: 2500 }
  assert.equal(wokenAt(2000, reloading(OWN), later), 2500)
})

test('a field none of whose arguments is looked up anew asks for no time to do so', () => {
  const began = (need: ArgumentNeed) =>
    calculate(reloading(need), undefined, {
      ...{ entity: DEVICE, now: 2000, news: undefined, loaded: { args: { t: { one: [1, 1] } } } },
      ...{ targets: [], maxStateBytes: 0 },
    }).state.reloadAt
  assert.equal(began(OWN), undefined)
  assert.equal(began({ ...OWN, origin: { from: 'owner' } }), 3000)
})
