import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import { Vault, VAULT_KEY_BYTES } from '../vault/vault.ts'
import { MailOAuth2, type PostForm } from './mail-oauth2.ts'
import { mailSettingsOf } from './mail-settings.ts'
import { sendBySmtp } from './smtp.ts'

const MAIL = {
  mailFrom: 'iot@example.org',
  smtpHost: '127.0.0.1',
  smtpPort: 1,
  username: 'iot@example.org',
  enableOauth2: true,
  clientId: 'client',
  clientSecret: 'hush',
  authUri: 'https://provider.example.org/authorize?tenant=1',
  tokenUri: 'https://provider.example.org/token',
  redirectUri: 'https://iot.example.org/api/admin/mail/oauth2/code',
  scope: ['https://mail.example.org/', 'offline'],
}

function open(answer: Awaited<ReturnType<PostForm>>, saved: JsonObject = MAIL) {
  const vault = new Vault(randomBytes(VAULT_KEY_BYTES))
  const clock = { now: () => time }
  let time = 1_700_000_000_000
  let value = saved
  const posted: [string, Record<string, string>][] = []
  const setting = () => ({ id: 'id', createdTime: 0, key: 'mail', value })
  const oauth2 = new MailOAuth2({
    vault,
    clock: { ...clock, monotonic: clock.now, after: () => assert.fail('no timer'), soon: () => assert.fail('no turn') },
    settings: {
      find: async () => setting(),
      change: async (_key, changed) => {
        value = changed(value)
        return setting()
      },
    },
    post: async (url, form) => {
      posted.push([url, Object.fromEntries(form)])
      return answer
    },
  })
  return { oauth2, posted, value: () => value, pass: (ms: number) => (time += ms) }
}

const GIVEN = { status: 200, text: '{"access_token":"short","refresh_token":"long"}' }
const stateOf = async ({ oauth2 }: ReturnType<typeof open>): Promise<string> =>
  new URL(await oauth2.authorizationUrl()).searchParams.get('state') ?? ''

test('an administrator’s way there and back leaves a refresh token among the settings', async () => {
  const opened = open(GIVEN)
  const url = new URL(await opened.oauth2.authorizationUrl())
  const { state, ...asked } = Object.fromEntries(url.searchParams)
  assert.equal(url.origin + url.pathname, 'https://provider.example.org/authorize')
  assert.deepEqual(asked, {
    tenant: '1',
    response_type: 'code',
    client_id: 'client',
    redirect_uri: MAIL.redirectUri,
    scope: 'https://mail.example.org/ offline',
    access_type: 'offline',
    prompt: 'consent',
  })
  assert.ok(!url.href.includes('hush'))
  await opened.oauth2.takeCode('the code', state ?? '')
  assert.deepEqual(opened.posted, [
    [
      MAIL.tokenUri,
      {
        grant_type: 'authorization_code',
        code: 'the code',
        redirect_uri: MAIL.redirectUri,
        client_id: 'client',
        client_secret: 'hush',
      },
    ],
  ])
  assert.deepEqual(opened.value(), { ...MAIL, refreshToken: 'long', tokenGenerated: true })
})

test('a way back that the platform did not ask for, or long ago, changes nothing', async () => {
  const opened = open(GIVEN)
  const state = await stateOf(opened)
  for (const bad of ['', 'x', String(1_700_000_000_000), `${state.slice(0, -2)}AA`, await stateOf(open(GIVEN))])
    await assert.rejects(opened.oauth2.takeCode('code', bad), { code: 'admin.MAIL_STATE', status: 400 })
  opened.pass(10 * 60_000)
  await assert.rejects(opened.oauth2.takeCode('code', state), { code: 'admin.MAIL_STATE' })
  assert.deepEqual([opened.posted, opened.value()], [[], MAIL])
})

test('a provider that gives no token is told; settings without a provider are refused with the member that misses', async () => {
  for (const answer of [
    { status: 400, text: '{"error":"invalid_grant"}' },
    { status: 200, text: 'no JSON' },
    { status: 200, text: '{}' },
  ]) {
    const opened = open(answer)
    await assert.rejects(opened.oauth2.takeCode('code', await stateOf(opened)), {
      code: 'admin.MAIL_CODE',
      status: 400,
    })
    assert.deepEqual(opened.value(), MAIL)
  }
  for (const [name, bad] of [
    ['enableOauth2', false],
    ['authUri', 'file:///etc/passwd'],
    ['scope', []],
  ] as const)
    await assert.rejects(open(GIVEN, { ...MAIL, [name]: bad }).oauth2.authorizationUrl(), {
      code: 'admin.MAIL',
      message: new RegExp(name),
    })
})

test('a mail by OAuth 2 waits for the token', async () => {
  const mail = { to: 'a@example.org', subject: 's', text: 't' }
  await assert.rejects(sendBySmtp(mailSettingsOf(MAIL), mail), /oauth2\/authorize/)
})
