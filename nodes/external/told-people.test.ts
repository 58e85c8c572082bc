import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { sendNotification } from './send-notification.ts'
import { sendToSlack } from './send-to-slack.ts'

const ID = '66666666-6666-4666-8666-666666666666'
const message = testMessage({ data: '{"temperature":25,"place":"body"}', metadata: { place: 'hall' } })

test('a notification is asked for with the message’s values', async () => {
  const context = testContext()
  const configuration = { targets: [ID], templateId: { entityType: 'NOTIFICATION_TEMPLATE', id: ID } }
  const [result] = await runNode(await createNode(sendNotification, configuration, context), message)
  assert.deepEqual(result?.emissions[0]?.relations, ['Success'])
  assert.equal(result?.emissions[0]?.message.metadata['notificationRequestResult'], `{"targets":["${ID}"]}`)
  const [sent] = context.fakes.notifications.sent
  assert.match(sent?.visit ?? '', /^visit \d+$/)
  assert.deepEqual(context.fakes.notifications.sent, [
    {
      visit: sent?.visit,
      ...{ templateId: ID, targetIds: [ID], originator: message.originator, customerId: null },
      ...{ messageType: 'POST_TELEMETRY_REQUEST', values: { temperature: '25', place: 'hall' } },
    },
  ])
})

const SLACK = {
  ...sendToSlack.defaultConfiguration,
  ...{ useSystemSettings: false, botToken: 'xoxb-1', conversation: { id: 'C1', type: 'PUBLIC_CHANNEL' } },
  messageTemplate: '${place}: $[temperature]',
}

test('a text is posted to Slack as its documentation says, and what Slack refuses is a Failure', async () => {
  const context = testContext()
  const node = await createNode(sendToSlack, SLACK, context)
  const { answers } = context.fakes.outbound
  answers.http = () => ({ status: 200, reason: 'OK', headers: [], body: '{"ok":true}' })
  const [sent] = await runNode(node, message)
  assert.deepEqual(sent?.emissions[0]?.relations, ['Success'])
  assert.deepEqual(context.fakes.outbound.calls, [
    {
      method: 'POST',
      url: 'https://slack.com/api/chat.postMessage',
      headers: { Authorization: 'Bearer xoxb-1', 'Content-Type': 'application/json; charset=utf-8' },
      body: '{"channel":"C1","text":"hall: 25"}',
    },
  ])
  answers.http = () => ({ status: 200, reason: 'OK', headers: [], body: '{"ok":false,"error":"channel_not_found"}' })
  const [refused] = await runNode(node, message)
  assert.deepEqual(refused?.emissions[0]?.relations, ['Failure'])
  assert.match(refused?.emissions[0]?.message.metadata['error'] ?? '', /channel_not_found/)
})

test('the token of the tenant’s notification settings is the one of now; without one a message takes Failure', async () => {
  const context = testContext()
  const { outbound, notifications } = context.fakes
  outbound.answers.http = () => ({ status: 200, reason: 'OK', headers: [], body: '{"ok":true}' })
  const node = await createNode(sendToSlack, { ...SLACK, useSystemSettings: true, botToken: null }, context)
  const relations: unknown[] = []
  for (const token of [undefined, 'xoxb-2', 'xoxb-2', 'xoxb-3']) {
    notifications.token = token
    const [result] = await runNode(node, message)
    relations.push(result?.emissions[0]?.relations[0])
  }
  assert.deepEqual(relations, ['Failure', 'Success', 'Success', 'Success'])
  const shown = outbound.calls.map((call) => (call as { headers: Record<string, string> }).headers['Authorization'])
  assert.deepEqual(shown, ['Bearer xoxb-2', 'Bearer xoxb-2', 'Bearer xoxb-3'])
  assert.deepEqual(
    outbound.opened.map(({ settings }) => (settings as { secret: string }).secret),
    ['xoxb-2', 'xoxb-3'],
  )
  await node.close?.()
  assert.ok(outbound.opened.every(({ isClosed }) => isClosed))
})

test('a node that closes while the token is on its way opens nothing that nobody would close', async () => {
  const context = testContext()
  const { outbound, notifications } = context.fakes
  const token = Promise.withResolvers<string>()
  notifications.slackToken = () => token.promise
  const node = await createNode(sendToSlack, { ...SLACK, useSystemSettings: true }, context)
  const running = runNode(node, message)
  await node.close?.()
  token.resolve('xoxb-2')
  const [result] = await running
  assert.deepEqual([result?.emissions[0]?.relations, outbound.opened], [['Failure'], []])
})

test('a node with a token of its own has its client from the start, where a tenant with too many is told', async () => {
  const context = testContext()
  await createNode(sendToSlack, SLACK, context)
  assert.equal(context.fakes.outbound.opened.length, 1)
})

test('what is missing is named at the start', async () => {
  for (const [change, field] of [
    [{ botToken: null }, 'botToken'],
    [{ conversation: null }, 'conversation'],
  ] as const)
    await assert.rejects(createNode(sendToSlack, { ...SLACK, ...change }), new RegExp(field))
  await assert.rejects(createNode(sendNotification), /targets/)
})
