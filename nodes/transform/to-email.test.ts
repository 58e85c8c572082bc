import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isJsonObject } from '../../model/json.ts'
import type { JsonObject } from '../../model/json.ts'
import { createNode, runNode, testMessage } from '../testkit.ts'
import type { MessageDraft } from '../testkit.ts'
import { toEmail } from './to-email.ts'

const TEMPLATES = {
  fromTemplate: 'info@example.org',
  toTemplate: '${to}',
  ccTemplate: 'c@example.org,${more}',
  bccTemplate: '',
  subjectTemplate: 'Device ${deviceType} hot',
  bodyTemplate: '$[a.b] $[list[0]] $[flag]',
  isHtmlTemplate: '${html}',
}

async function mail(change: JsonObject, draft: Omit<MessageDraft, 'data'> = {}): Promise<JsonObject> {
  const instance = await createNode(toEmail, { ...TEMPLATES, ...change })
  const data = '{"a":{"b":7},"list":[5],"flag":true}'
  const [result] = await runNode(instance, testMessage({ ...draft, data }))
  const [out] = result?.emissions ?? []
  assert.deepEqual([out?.relations, out?.message.type], [['Success'], 'SEND_EMAIL'])
  const body = out?.message.json()
  assert.ok(isJsonObject(body))
  return body
}

test('fills what it can; empty templates are null, missing values stay as they are written', async () => {
  const metadata = { to: 'a@example.org,b@example.org', more: 'd@example.org' }
  assert.deepEqual(await mail({ mailBodyType: 'true' }, { metadata }), {
    from: 'info@example.org',
    to: 'a@example.org,b@example.org',
    cc: 'c@example.org,d@example.org',
    bcc: null,
    subject: 'Device ${deviceType} hot',
    body: '7 $[list[0]] true',
    images: null,
    html: true,
  })
})

test('a dynamic mail is HTML where the message says so', async () => {
  for (const [html, expected] of [
    ['true', true],
    ['TRUE', true],
    ['no', false],
  ] as const) {
    assert.equal((await mail({ mailBodyType: 'dynamic' }, { metadata: { html } }))['html'], expected)
  }
  assert.equal((await mail({ mailBodyType: null }))['html'], false)
})

test('images go with the mail, or fail it', async () => {
  const images = '{"logo":"data:image/png;base64,AAAA"}'
  const found = await mail({}, { metadata: { images } })
  assert.deepEqual(found['images'], { logo: 'data:image/png;base64,AAAA' })
  const instance = await createNode(toEmail, TEMPLATES)
  for (const wrong of ['[]', '{"logo":1}', 'no JSON']) {
    const [result] = await runNode(instance, testMessage({ data: '{}', metadata: { images: wrong } }))
    assert.deepEqual(result?.emissions[0]?.relations, ['Failure'], wrong)
  }
})
