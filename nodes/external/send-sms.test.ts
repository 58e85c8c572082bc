import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { sendSms } from './send-sms.ts'

const TWILIO = { type: 'TWILIO', accountSid: 'AC1', accountToken: 'token', numberFrom: '+15005550006' }
const SMPP = { type: 'SMPP', protocolVersion: '3.4', host: 'centre', port: 2775, systemId: 'me', password: 'secret' }
const SNS = { type: 'AWS_SNS', accessKeyId: 'A', secretAccessKey: 'S', region: 'eu-west-1' }

async function sent(provider: JsonObject | null, numbers: string, configuration: JsonObject = {}) {
  const context = testContext()
  context.fakes.outbound.answers.twilio = () => undefined
  context.fakes.outbound.answers.smpp = () => undefined
  context.fakes.outbound.answers.sns = () => ({ messageId: 'm', requestId: 'r' })
  const own = { useSystemSmsSettings: false, smsProviderConfiguration: provider, ...configuration }
  const node = await createNode(sendSms, { ...sendSms.defaultConfiguration, ...own }, context)
  const metadata = { userPhone: numbers, deviceName: 'pump', temp: '50' }
  const [result] = await runNode(node, testMessage({ data: '{}', metadata }))
  await node.close?.()
  const emission = result?.emissions[0]
  assert.equal(context.fakes.outbound.opened[0]?.isClosed, true)
  return {
    relation: emission?.relations[0],
    error: emission?.message.metadata['error'],
    calls: context.fakes.outbound.calls,
  }
}

test('the text goes to each number, by each provider', async () => {
  const text = 'Device pump has high temperature 50'
  const both = '+15005550009, +15005550010'
  assert.deepEqual(await sent(TWILIO, both), {
    ...{ relation: 'Success', error: undefined },
    calls: [
      { numberTo: '+15005550009', text },
      { numberTo: '+15005550010', text },
    ],
  })
  assert.deepEqual((await sent(SNS, '+15005550009')).calls, [{ phoneNumber: '+15005550009', message: text }])
  assert.deepEqual((await sent(SMPP, '+15005550009')).calls, [{ numberTo: '+15005550009', text }])
})

test('one wrong number sends nothing', async () => {
  const { relation, error, calls } = await sent(TWILIO, '+15005550009,0049123')
  assert.deepEqual([relation, calls], ['Failure', []])
  assert.match(error ?? '', /'0049123' is no phone number/)
})

test('a provider that is missing, not known or incomplete is refused at the start', async () => {
  const refusals: readonly (readonly [JsonObject | null, RegExp])[] = [
    [null, /smsProviderConfiguration/],
    [{ type: 'FAX' }, /'FAX' is none of AWS_SNS, TWILIO, SMPP/],
    [{ type: 'SMPP' }, /host/],
    [{ ...SMPP, port: 0 }, /port/],
    [{ ...SMPP, protocolVersion: '5.0' }, /protocolVersion/],
    [{ ...SMPP, bindType: 'TXX' }, /bindType/],
    [{ ...SMPP, codingScheme: 4 }, /codingScheme/],
    [{ ...TWILIO, accountToken: null }, /accountToken/],
    [{ ...TWILIO, numberFrom: '123' }, /numberFrom/],
    [{ ...SNS, secretAccessKey: '' }, /secretAccessKey/],
  ]
  for (const [provider, reason] of refusals) await assert.rejects(sent(provider, '+15005550009'), reason)
})

test('with the settings of the system the text goes by its provider, and a wrong number still sends nothing', async () => {
  const context = testContext()
  const configuration = { ...sendSms.defaultConfiguration, numbersToTemplate: '${to}', smsMessageTemplate: 'hot' }
  const node = await createNode(sendSms, configuration, context)
  const relations: (string | undefined)[] = []
  for (const to of ['+15005550009,+15005550010', '+15005550009,0049123']) {
    const [result] = await runNode(node, testMessage({ data: '{}', metadata: { to } }))
    relations.push(result?.emissions[0]?.relations[0])
  }
  await node.close?.()
  assert.deepEqual(relations, ['Success', 'Failure'])
  assert.deepEqual(context.fakes.sms.sent, [
    ['+15005550009', 'hot'],
    ['+15005550010', 'hot'],
  ])
  assert.deepEqual(context.fakes.outbound.opened, [])
})
