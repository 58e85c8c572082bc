import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import { testOutbound } from '../outbound/testkit.ts'
import { SystemSms } from './system-sms.ts'
import { startTestCentre } from './testkit.ts'

const SMPP = { type: 'SMPP', protocolVersion: '3.4', host: '127.0.0.1', systemId: 'me' }

function systemSms(read: () => JsonObject | undefined, outbound = testOutbound()): SystemSms {
  const find = async (key: string) => {
    const value = read()
    return value && { id: '', createdTime: 0, key, value }
  }
  return new SystemSms({ settings: { find }, outbound })
}

test('texts go out over one session, and over another one when the settings changed', async (t) => {
  const centre = await startTestCentre()
  t.after(() => centre.close())
  let settings: JsonObject = { ...SMPP, port: centre.port, password: 'one' }
  const outbound = testOutbound()
  const sms = systemSms(() => settings, outbound)
  t.after(() => sms.close())
  await sms.send('+15005550001', 'a')
  settings = { ...settings }
  await sms.send('+15005550002', 'b')
  settings = { ...settings, password: 'two' }
  await Promise.all([sms.send('+15005550003', 'c'), sms.send('+15005550003', 'd')])
  assert.deepEqual(centre.logins, ['one', 'two'])
  assert.deepEqual(centre.numbers, ['15005550001', '15005550002', '15005550003', '15005550003'])
  assert.equal(outbound.figures.clients, 1)
  await sms.close()
  assert.equal(outbound.figures.clients, 0)
})

test('without settings nothing is sent, and a centre inside the network is refused', async (t) => {
  const none = systemSms(() => undefined)
  assert.equal(await none.isSetUp(), false)
  await assert.rejects(none.send('+15005550001', 'a'), { message: /no SMS provider configured/ })
  const inside = systemSms(() => ({ ...SMPP, port: 1, password: 'p' }), testOutbound({ allowedAddresses: [] }))
  t.after(() => inside.close())
  await assert.rejects(inside.send('+15005550001', 'a'), { code: 'outbound.ADDRESS_INTERNAL' })
})
