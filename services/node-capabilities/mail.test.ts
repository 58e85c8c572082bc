import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailSettingsOf } from '../mail/mail-settings.ts'
import type { Mail } from '../mail/smtp.ts'
import { UsageMeter } from '../../engine/usage/usage.ts'
import { testOutbound } from '../outbound/testkit.ts'
import { nodeMail } from './mail.ts'

const settings = mailSettingsOf({ mailFrom: 'Millrace <mail@Company.example>', smtpHost: 'h', smtpPort: 25 })
const admin = { mailSettings: () => Promise.resolve(settings) }
const MAIL = { to: 'a@b.c', subject: 's', body: 'b', isHtml: false }

test('a sender of another domain than the server’s is answered to, and is not the sender', async () => {
  const sent: Mail[] = []
  const mails = nodeMail(
    { admin, meter: new UsageMeter() },
    testOutbound(),
    async (_settings, mail) => void sent.push(mail),
  )({ tenantId: 'a' })
  const own = ['hall@company.example', 'Hall 3 <hall@company.EXAMPLE>']
  const foreign = [
    ...['ceo@bank.example', 'Boss <boss@bank.example>', 'x@bank.example, <hall@company.example>'],
    ...['hall@company.example, x@bank.example', 'x@bank.example <hall@company.example>', 'group: x@company.example;'],
    ...['hall@company.example\r\nBcc: x@y.z', 'nobody'],
  ]
  for (const from of [...own, ...foreign, '', undefined])
    await mails.send({ ...MAIL, ...(from === undefined ? {} : { from }) })
  assert.deepEqual(
    sent.map(({ from, replyTo }) => [from, replyTo]),
    [
      ...own.map((from) => [from, undefined]),
      ...foreign.map((from) => [undefined, from]),
      ...[
        [undefined, undefined],
        [undefined, undefined],
      ],
    ],
  )
})

test('a tenant has a part of the mail server, the others theirs', async () => {
  const going = new Map<string, () => void>()
  const started: string[] = []
  const mailOf = nodeMail({ admin, meter: new UsageMeter() }, testOutbound(), (_settings, { subject }) => {
    started.push(subject)
    return new Promise((resolve) => going.set(subject, resolve))
  })
  const sends = Array.from({ length: 9 }, (_, index) =>
    mailOf({ tenantId: 'loud' }).send({ ...MAIL, subject: `loud ${index}` }),
  )
  const other = mailOf({ tenantId: 'quiet' }).send({ ...MAIL, subject: 'quiet' })
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(started, ['loud 0', 'loud 1', 'loud 2', 'loud 3', 'quiet'])
  going.get('quiet')?.()
  await other
  for (let done = 0; done < sends.length; done++) {
    going.get(`loud ${done}`)?.()
    await sends[done]
  }
  assert.equal(started.length, 10)
})
