import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailSettingsOf } from './mail-settings.ts'
import { sendBySmtp } from './smtp.ts'
import { startTestProxy } from '../outbound/proxy.testkit.ts'
import { startTestMailServer } from './testkit.ts'

test('a mail that the server refuses for some of its recipients is refused, and not to be tried again', async (t) => {
  const server = await startTestMailServer()
  t.after(() => server.close())
  const settings = mailSettingsOf({ mailFrom: 'a@b.c', smtpHost: '127.0.0.1', smtpPort: server.port, enableTls: false })
  const mail = { subject: 's', text: 't' }
  await sendBySmtp(settings, { ...mail, to: 'd@e.f, g@h.i' })
  const sending = sendBySmtp(settings, { ...mail, to: 'd@e.f, refused@e.f' })
  await assert.rejects(sending, { kind: 'invalid', message: /refuses refused@e\.f/ })
  assert.equal(server.mails.length, 2)
})

test('a mail of the system goes out through the proxy of its settings', async (t) => {
  const [server, proxy] = [await startTestMailServer(), await startTestProxy('u:p')]
  t.after(() => Promise.all([server.close(), proxy.close()]))
  const own = { mailFrom: 'a@b.c', smtpHost: 'localhost', smtpPort: server.port }
  const through = { enableProxy: true, proxyHost: '127.0.0.1', proxyPort: String(proxy.port), proxyUser: 'u' }
  const mail = { to: 'd@e.f', subject: 's', text: 't' }
  await sendBySmtp(mailSettingsOf({ ...own, ...through, proxyPassword: 'p' }), mail)
  assert.deepEqual([server.mails.length, ...proxy.asked], [1, `localhost:${server.port}`])
  await assert.rejects(sendBySmtp(mailSettingsOf({ ...own, ...through }), mail), /the proxy answered 407/)
  for (const port of ['', null, 0, '0', 'none']) mailSettingsOf({ ...own, enableProxy: false, proxyPort: port })
  assert.throws(() => mailSettingsOf({ ...own, ...through, proxyHost: '' }), /proxyHost/)
  for (const port of ['', 0, 'none'])
    assert.throws(() => mailSettingsOf({ ...own, ...through, proxyPort: port }), /proxyPort/)
})
