import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FEATURE, USAGE, UsageMeter } from '../../engine/usage/usage.ts'
import { testOutbound } from '../outbound/testkit.ts'
import { nodeSms } from './sms.ts'

test('texts count for the tenant as many segments as they have, and only where they were sent', async () => {
  const meter = new UsageMeter()
  const sms = {
    send: async (number: string) => {
      if (number === '+15005550009') throw new Error('refused')
    },
  }
  const texts = nodeSms({ sms, meter }, testOutbound())({ tenantId: 'a' })
  await texts.send('+15005550001', 'short')
  await texts.send('+15005550001', 'x'.repeat(141))
  await assert.rejects(texts.send('+15005550009', 'short'), /refused/)
  assert.deepEqual(
    [...meter.take()].map(([tenantId, counts]) => [tenantId, counts[USAGE.sms]]),
    [['a', 4]],
  )
})

test('a tenant whose limit is reached sends none', async () => {
  const meter = new UsageMeter()
  const sent: string[] = []
  const sms = { send: async (number: string) => void sent.push(number) }
  const texts = nodeSms({ sms, meter }, testOutbound())({ tenantId: 'a' })
  meter.setDisabledOf('a', FEATURE.SMS)
  await assert.rejects(texts.send('+15005550001', 'a'), { code: 'usage.SMS' })
  assert.deepEqual(sent, [])
})
