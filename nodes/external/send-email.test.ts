import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestMailServer } from '../../services/mail/testkit.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { sendEmail } from './send-email.ts'
import { outsideContext } from './testkit.ts'

const MAIL = { from: 'a@example.org', to: 'b@example.org', cc: null, subject: 'hot', body: '<b>25</b>', html: true }
const message = testMessage({ type: 'SEND_EMAIL', data: JSON.stringify({ ...MAIL, images: null }) })

test('the mail of a "to email" node goes out by the system’s server', async () => {
  const context = testContext()
  const [result] = await runNode(await createNode(sendEmail, undefined, context), message)
  assert.deepEqual(result?.emissions[0]?.relations, ['Success'])
  const { html: isHtml, ...mail } = MAIL
  assert.deepEqual(context.fakes.mail.sent, [{ ...mail, cc: '', bcc: '', isHtml }])
})

test('another type, or what is no mail, is a Failure', async () => {
  const context = testContext()
  const node = await createNode(sendEmail, undefined, context)
  for (const draft of [
    { data: message.data },
    { type: 'SEND_EMAIL', data: '{"to":""}' },
    { type: 'SEND_EMAIL', data: '[]' },
  ]) {
    const [result] = await runNode(node, testMessage(draft))
    assert.deepEqual(result?.emissions[0]?.relations, ['Failure'], draft.data)
  }
  assert.deepEqual(context.fakes.mail.sent, [])
})

test('what is no address is a Failure with its member, and names may hold commas', async () => {
  const context = testContext()
  const node = await createNode(sendEmail, undefined, context)
  const sent = async (members: object) => {
    const data = JSON.stringify({ ...MAIL, ...members })
    const [result] = await runNode(node, testMessage({ type: 'SEND_EMAIL', data }))
    return result?.emissions[0]?.message.metadata['error'] ?? result?.emissions[0]?.relations
  }
  for (const to of ['b@example.org, c@example.org', '"Doe, Jane" <b@example.org>', 'Jane <b@example.org>,'])
    assert.deepEqual(await sent({ to }), ['Success'], to)
  for (const wrong of [{ to: 'not an address' }, { cc: 'b@example.org, nobody' }, { bcc: 'a b@example.org' }])
    assert.match(String(await sent(wrong)), /is not a list of mail addresses/, JSON.stringify(wrong))
})

test('a server of the node’s own takes it; an internal one that is not allowed is not called', async () => {
  const server = await startTestMailServer()
  const own = {
    ...sendEmail.defaultConfiguration,
    ...{ useSystemSmtpSettings: false, smtpHost: 'localhost', smtpPort: server.port },
  }
  const context = outsideContext()
  const node = await createNode(sendEmail, own, context)
  const [sent] = await runNode(node, message)
  assert.equal(sent?.emissions[0]?.message.metadata['error'], undefined)
  assert.match(server.mails[0] ?? '', /Subject: hot[^]*<b>25<\/b>/)
  const [refused] = await runNode(await createNode(sendEmail, own, outsideContext({ allowedAddresses: [] })), message)
  assert.match(refused?.emissions[0]?.message.metadata['error'] ?? '', /internal address/)
  assert.equal(server.mails.length, 1)
  await server.close()
})

test('a server of the node’s own is reached through the proxy of the node', async () => {
  const context = testContext()
  context.fakes.outbound.answers.smtp = () => undefined
  const own = { ...sendEmail.defaultConfiguration, useSystemSmtpSettings: false, smtpHost: 'mail.example' }
  const proxied = { ...own, enableProxy: true, proxyHost: 'proxy.example', proxyPort: '3128' }
  await createNode(sendEmail, { ...proxied, proxyUser: 'u', proxyPassword: 'p' }, context)
  await createNode(sendEmail, proxied, context)
  const proxy = { host: 'proxy.example', port: 3128 }
  assert.deepEqual(
    context.fakes.outbound.opened.map(({ settings }) => 'proxy' in settings && settings.proxy),
    [{ ...proxy, user: 'u', password: 'p' }, proxy],
  )
  await assert.rejects(createNode(sendEmail, { ...proxied, proxyHost: null }, context), /proxyHost/)
  await assert.rejects(createNode(sendEmail, { ...proxied, proxyPort: 'x' }, context), /proxyPort/)
})
