import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRestWorld } from '../../test/security/rest-world.ts'
import { gzipped, takesGzip } from './gzipped.ts'

test('a client takes gzip that names it, or anything, without a weight of 0', () => {
  for (const [value, takes] of [
    ['gzip', true],
    ['gzip, deflate, br', true],
    ['deflate, GZIP;q=0.5', true],
    ['x-gzip', true],
    ['*', true],
    ['br;q=1.0, *;q=0.1', true],
    ['', false],
    ['identity', false],
    ['gzip;q=0', false],
    ['gzip;q=0, *', false],
    ['*;q=0.0', false],
    ['gzipped', false],
  ] as const)
    assert.equal(takesGzip(value), takes, value)
})

test('answers beyond a few at once go as they are: what else needs the threads does not wait behind them', async () => {
  const answer = { status: 200, contentType: 'application/json', body: 'a'.repeat(100_000) }
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => gzipped(answer, 'gzip')))
    const packed = answers.filter(({ headers }) => headers?.['Content-Encoding'] === 'gzip')
    assert.equal(packed.length, 2)
    assert.ok(
      answers.every(({ bytes, headers }) => (bytes === undefined) === (headers?.['Content-Encoding'] === undefined)),
    )
    assert.ok(answers.every(({ body, headers }) => body === answer.body && headers?.['Vary'] === 'Accept-Encoding'))
  }
})

test('dashboards are packed for clients that take them so', async (context) => {
  const world = await openRestWorld()
  context.after(() => world.close())
  const call = (path: string, headers: Readonly<Record<string, string>>, body?: object): Promise<Response> =>
    fetch(`${world.url}/api/${path}`, {
      headers: { 'x-authorization': `Bearer ${world.tenant}`, ...headers },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    })
  const configuration = { widgets: Array.from({ length: 200 }, (_, index) => ({ title: `widget é ${index}` })) }
  const saved = await (await call('dashboard', {}, { title: 'Large', configuration })).json()
  const { id } = saved as { id: { id: string } }
  await call('tenant/dashboard/home/info', {}, { dashboardId: id, hideDashboardToolbar: false })
  for (const path of [`dashboard/${id.id}`, 'dashboard/home']) {
    const plain = await call(path, { 'accept-encoding': 'identity' })
    assert.equal(plain.headers.get('content-encoding'), null)
    assert.equal(plain.headers.get('vary'), 'Accept-Encoding')
    const text = await plain.text()
    assert.ok(text.includes('widget é 199'))
    const packed = await call(path, { 'accept-encoding': 'gzip', origin: 'http://front.example' })
    assert.equal(packed.headers.get('content-encoding'), 'gzip', path)
    assert.equal(packed.headers.get('vary'), 'Accept-Encoding, Origin')
    assert.equal(packed.headers.get('content-type'), 'application/json')
    assert.ok(Number(packed.headers.get('content-length')) < text.length / 4)
    // It was unpacked on the way.
    assert.equal(await packed.text(), text)
    const head = await fetch(`${world.url}/api/${path}`, {
      method: 'HEAD',
      headers: { 'x-authorization': `Bearer ${world.tenant}`, 'accept-encoding': 'gzip' },
    })
    assert.equal(head.headers.get('content-length'), packed.headers.get('content-length'))
  }
  const small = await (await call('dashboard', {}, { title: 'Small' })).json()
  const answer = await call(`dashboard/${(small as { id: { id: string } }).id.id}`, { 'accept-encoding': 'gzip' })
  assert.equal(answer.headers.get('content-encoding'), null)
  assert.equal(answer.status, 200)
})
