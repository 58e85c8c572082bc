import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailSettingsOf } from './mail-settings.ts'
import { sendBySmtp } from './smtp.ts'
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
