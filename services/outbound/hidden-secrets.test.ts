import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hiddenSecrets } from './hidden-secrets.ts'
import { testOutbound } from './testkit.ts'

test('secrets of the client and of its node are hidden as they are, in URLs and in Base64', () => {
  const hide = hiddenSecrets({ deep: { password: 'pass word' }, host: 'broker' }, ['Bearer abcdef', 'ünïcode'])
  const base64 = Buffer.from('pass word').toString('base64')
  assert.equal(
    hide(`at broker: pass word, pass%20word, ${base64}, abcdef, Bearer abcdef, ünïcode`),
    'at broker: ********, ********, ********, ********, ********, ********',
  )
})

test('a login inside an URL is hidden, whoever wrote it', () => {
  const hide = hiddenSecrets({})
  assert.equal(
    hide("'https://user:p4:ss@host/a@b' and amqp://u@h"),
    "'https://********@host/a@b' and amqp://********@h",
  )
  assert.equal(hide('https://host/a@b?c=d@e mail to a@b.c'), 'https://host/a@b?c=d@e mail to a@b.c')
})

test('the whole of a password is hidden, and parameters with the name of a secret', () => {
  const hide = hiddenSecrets({})
  assert.equal(hide('amqp://u:p@ss@host/v'), 'amqp://********@host/v')
  assert.equal(
    hide('GET https://host/a?page=1&api_key=k1&access_token=t failed'),
    'GET https://host/a?page=1&api_key=********&access_token=******** failed',
  )
})

test('the errors of a node quote neither its secrets nor the login in the URL that it calls', async (t) => {
  const node = testOutbound().ofNode({ tenantId: 'a', secrets: ['Bearer very-secret-token'] })
  const client = node.open('http', { maxAnswerBytes: 1 })
  t.after(() => client.close())
  const call = { method: 'GET', headers: { Authorization: 'Bearer very-secret-token' } }
  for (const url of ['ftp://me:my-password@host/', 'http://me:my-password@ host/very-secret-token'])
    await assert.rejects(client.call({ ...call, url }, 0), (error: Error) => {
      assert.ok(!/my-password|very-secret/.test(error.message), error.message)
      assert.match(error.message, /\*{8}@/)
      return true
    })
})
