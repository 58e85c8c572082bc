import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../model/manual-clock.ts'
import { SeededRandom } from '../../../engine/actor/testkit.ts'
import { FEATURE, USAGE, UsageMeter } from '../../../engine/usage/usage.ts'
import { DEFAULT_LIMITS } from '../../entities/tenant-limits.ts'
import { CalculationTime } from './bounds.ts'
import { fieldTools } from './tools.ts'

test('scripts of calculated fields count as the tenant’s, and fail once these are used up', () => {
  const meter = new UsageMeter()
  const clock = new ManualClock(1)
  const parts = { meter, clock, random: new SeededRandom(1), time: new CalculationTime(clock) }
  const tools = fieldTools(parts, { tenantId: 'tenant', id: 'f' }, () => DEFAULT_LIMITS)
  const script = tools.compile('return a + 1;', ['a'])
  assert.equal(Number(script.call([1])), 2)
  // As after its deletion and its import.
  meter.forget('tenant')
  assert.equal(Number(script.call([2])), 3)
  assert.equal(meter.take().get('tenant')?.[USAGE.tbelExecutions], 1)
  meter.setDisabledOf('tenant', FEATURE.TBEL)
  assert.throws(() => script.call([1]), /TBEL/)
  assert.equal(meter.take().get('tenant'), undefined)
})

test('one calculation takes five seconds at most, however many scripts it runs', async () => {
  const clock = new ManualClock(1)
  const time = new CalculationTime(clock)
  const parts = { meter: new UsageMeter(), clock, random: new SeededRandom(1), time }
  const script = fieldTools(parts, { tenantId: 'tenant', id: 'f' }, () => DEFAULT_LIMITS).compile('return a;', ['a'])
  time.begin()
  await clock.advance(4_999)
  assert.equal(Number(script.call([1])), 1)
  await clock.advance(2)
  assert.throws(() => script.call([1]), /longer than 5 s/)
  time.begin()
  assert.equal(Number(script.call([1])), 1)
})
