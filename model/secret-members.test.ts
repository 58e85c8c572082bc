import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mapSecrets, maskedSecrets, masksIn, secretsOf, SECRET_MASK, type SecretShape } from './secret-members.ts'

const SHAPE: SecretShape = {
  url: 'login',
  headers: 'named',
  query: 'named',
  credentials: { caller: 'text' },
  list: { pin: 'text' },
}

const VALUE = {
  url: 'https://user:pa:ss@host:8080/a?b=c@d',
  headers: { Authorization: 'Bearer abc', 'X-Api-Key': 'k1', Accept: 'json', 'X-Auth-Token': '${token}', cookie: '' },
  query: [
    { key: 'access_token', value: 't1' },
    { key: 'page', value: '1' },
  ],
  credentials: { caller: 'c1', password: 'p1', type: 'basic', empty: { password: '', apiKey: null } },
  list: [{ pin: '1' }, { pin: '2', name: 'n' }],
}

test('secrets are found by their declaration and by their names, in logins, headers and lists', () => {
  assert.deepEqual(Object.fromEntries(secretsOf(VALUE, SHAPE)), {
    '/url': 'pa:ss',
    '/headers/Authorization': 'Bearer abc',
    '/headers/X-Api-Key': 'k1',
    '/query/access_token': 't1',
    '/credentials/caller': 'c1',
    '/credentials/password': 'p1',
    '/list[0/2]/pin': '1',
    '/list[1/2]/pin': '2',
  })
  const masked = maskedSecrets(VALUE, SHAPE)
  assert.equal(masked['url'], `https://user:${SECRET_MASK}@host:8080/a?b=c@d`)
  assert.deepEqual(masked['query'], [
    { key: 'access_token', value: SECRET_MASK },
    { key: 'page', value: '1' },
  ])
  assert.equal(masksIn(masked, SHAPE).length, 8)
  assert.ok(masksIn(masked, SHAPE).includes('credentials.password'))
  assert.deepEqual(masksIn(VALUE, SHAPE), [])
})

test('of an URL the whole password is a secret, a user name without one, and parameters by their names', () => {
  for (const [url, masked, secrets] of [
    ['amqp://u:p@ss@host/v@x', `amqp://u:${SECRET_MASK}@host/v@x`, ['p@ss']],
    ['https://ghp_token@host/a', `https://${SECRET_MASK}@host/a`, ['ghp_token']],
    ['https://ghp_token:@host/a', `https://${SECRET_MASK}:@host/a`, ['ghp_token']],
    [
      'https://host/a?page=1&api_key=k=1&token=t&api_key=k2#api_key=f',
      `https://host/a?page=1&api_key=${SECRET_MASK}&token=${SECRET_MASK}&api_key=${SECRET_MASK}#api_key=f`,
      ['k=1', 't', 'k2'],
    ],
    [
      'https://u:p@host?sig=1&access_token=t',
      `https://u:${SECRET_MASK}@host?sig=1&access_token=${SECRET_MASK}`,
      ['p', 't'],
    ],
    ['${base}/a?api_key=k', `\${base}/a?api_key=${SECRET_MASK}`, ['k']],
  ] as const) {
    assert.deepEqual([...secretsOf({ url }, SHAPE).values()], secrets, url)
    assert.deepEqual(maskedSecrets({ url }, SHAPE), { url: masked })
    const seal = (text: string) => `sealed:1:0123abcd:${Buffer.from(text).toString('base64url')}`
    const open = (text: string) => Buffer.from(text.split(':')[3] ?? '', 'base64url').toString()
    // Sealed and masked it is found at the same places again.
    const sealed = mapSecrets({ url }, SHAPE, seal)
    assert.deepEqual([...secretsOf(sealed, SHAPE).keys()], [...secretsOf({ url }, SHAPE).keys()], url)
    assert.deepEqual([...secretsOf({ url: masked }, SHAPE).keys()], [...secretsOf({ url }, SHAPE).keys()], url)
    assert.deepEqual(mapSecrets(sealed, SHAPE, open), { url })
  }
})

test('what is no secret stays, in its order', () => {
  assert.equal(
    mapSecrets(VALUE, SHAPE, (secret) => secret),
    VALUE,
  )
  assert.deepEqual(Object.keys(maskedSecrets(VALUE, SHAPE)), Object.keys(VALUE))
  for (const url of [
    'http://host:80/a@b',
    'http://${user}:${secret}@host',
    'http://${token}@host',
    'text: a@b',
    '/a:b@c',
    'http://h/?page=1&token=${t}',
  ])
    assert.deepEqual([...secretsOf({ url }, SHAPE)], [], url)
  assert.deepEqual([...secretsOf({ __proto__: null, constructor: 'x', toString: 'y' }, SHAPE)], [])
})
