import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_LIMITS, type TenantLimits } from '../entities/tenant-limits.ts'
import { RateBuckets } from '../../model/rates.ts'
import { RestRates, type RateRefusal } from './rate-limits.ts'
import { TestClock } from '../testkit.ts'

function admitted(buckets: RateBuckets, now: number, tries: number): number {
  return Array.from({ length: tries }, () => buckets.admit(now)).filter(Boolean).length
}

test('buckets fill steadily, and every limit must have room', () => {
  const buckets = new RateBuckets('4:1,6:60', 0)
  assert.equal(admitted(buckets, 0, 10), 4)
  assert.equal(admitted(buckets, 250, 10), 1, 'a quarter of a second is one of four')
  assert.equal(admitted(buckets, 1_250, 10), 1, 'six a minute')
  assert.equal(admitted(buckets, 11_250, 10), 1, 'ten seconds are one of six')
  assert.equal(admitted(buckets, 3_600_000, 100), 4, 'rest saves nothing beyond the capacity')
})

test('what was refused counts nothing', () => {
  const buckets = new RateBuckets('1:1', 0)
  assert.equal(admitted(buckets, 0, 1_000), 1)
  assert.equal(admitted(buckets, 1_000, 1), 1)
})

test('no text is no limit', () => {
  for (const none of [null, '', ' ']) assert.equal(admitted(new RateBuckets(none, 0), 0, 1_000), 1_000)
})

test('a tenant and each of its customers have buckets of their own, and a changed limit begins anew', async () => {
  const clock = new TestClock()
  let own: Partial<TenantLimits> = {
    tenantServerRestLimitsConfiguration: '5:1',
    customerServerRestLimitsConfiguration: '2:1',
  }
  const reached: RateRefusal[] = []
  const limits = { of: async (id: string) => ({ ...DEFAULT_LIMITS, ...(id === 'free' ? {} : own) }) }
  const rates = new RestRates(limits, clock, (refusal) => void reached.push(refusal))
  const of = (tenantId: string | null, customerId: string | null = null) => rates.check({ tenantId, customerId })
  for (let call = 0; call < 100; call++) {
    await of(null)
    await of('free', 'c1')
  }
  await of('t1', 'c1')
  await of('t1', 'c1')
  await assert.rejects(of('t1', 'c1'), { code: 'rate.CUSTOMER', status: 429, restCode: 33 })
  await of('t1', 'c2')
  await of('t1')
  await assert.rejects(of('t1'), { code: 'rate.TENANT', message: 'Too many requests for current tenant!' })
  await assert.rejects(of('t1', 'c2'), { code: 'rate.TENANT' })
  await of('t2')
  assert.equal(rates.figures()['refused_total'], 3)
  assert.deepEqual(
    reached.map(({ api, level }) => [api, level?.id]),
    [
      ['REST_REQUESTS_PER_CUSTOMER', 'c1'],
      ['REST_REQUESTS_PER_TENANT', undefined],
      ['REST_REQUESTS_PER_TENANT', undefined],
    ],
  )
  own = { tenantServerRestLimitsConfiguration: '6:1' }
  await of('t1', 'c1')
  clock.time += 1_000
  await of('t1', 'c1')
})
