import assert from 'node:assert/strict'
import { connect, createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { test } from 'node:test'
import { AddressGuard } from './address-guard.ts'

const INTERNAL = { code: 'outbound.ADDRESS_INTERNAL' }

test('internal addresses are refused however they are written, public ones are not', async () => {
  const guard = new AddressGuard([])
  for (const host of [
    ...['127.0.0.1', '10.1.2.3', '172.31.255.255', '192.168.0.1', '169.254.169.254', '100.64.0.1', '0.0.0.0'],
    ...[
      '224.0.0.1',
      '255.255.255.255',
      '168.63.129.16',
      '[::1]',
      '::',
      'fe80::1',
      'fd00::1',
      '::ffff:127.0.0.1',
      '[::ffff:a9fe:a9fe]',
    ],
    ...['64:ff9b::7f00:1', '2002:7f00:1::', '2001:db8::1', 'ff02::1', '::127.0.0.1'],
  ]) {
    assert.throws(() => guard.checkLiteral(host), INTERNAL, host)
    await assert.rejects(guard.addressesOf(host), INTERNAL, host)
  }
  for (const host of ['8.8.8.8', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8']) guard.checkLiteral(host)
})

test('what the operator allows may be called', async () => {
  const guard = new AddressGuard(['127.0.0.0/8', '10.0.0.7', 'fd00::/8'])
  for (const host of ['127.0.0.1', '10.0.0.7', 'fd00::9', '::ffff:127.0.0.1']) guard.checkLiteral(host)
  assert.throws(() => guard.checkLiteral('10.0.0.8'), INTERNAL)
})

test('what the operator denies is not called, though it is public or allowed', async () => {
  const names: Record<string, string> = { 'cdn.example': '8.8.8.8', 'shop.example': '9.9.9.9' }
  const guard = new AddressGuard(['10.0.0.0/8'], async (host) => [{ address: names[host] ?? '1.1.1.1', family: 4 }], [
    '8.8.0.0/16',
    '10.1.0.0/16',
    '2606:4700::/32',
    '*.Example.org',
    'meta.example',
  ])
  const denied = { code: 'outbound.ADDRESS_DENIED' }
  for (const host of [
    '8.8.4.4',
    '10.1.2.3',
    '[2606:4700::1111]',
    '::ffff:8.8.8.8',
    'a.b.EXAMPLE.org.',
    'Meta.example',
  ]) {
    assert.throws(() => guard.checkLiteral(host), denied, host)
    assert.throws(() => guard.checkDenied(host), denied, host)
    await assert.rejects(guard.addressesOf(host), denied, host)
  }
  await assert.rejects(guard.addressesOf('cdn.example'), denied)
  for (const host of ['shop.example', 'example.org', 'notexample.org', '10.2.0.1', '8.9.0.1'])
    await guard.addressesOf(host)
})

test('a name is called by those of its addresses that may be; a name with none is refused, one without any is unknown', async () => {
  const names: Record<string, string[]> = { mixed: ['127.0.0.1', '8.8.8.8'], inner: ['10.0.0.1', '::1'] }
  const guard = new AddressGuard([], async (host) => {
    const found = names[host]
    if (found === undefined) throw new Error('ENOTFOUND')
    return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  })
  assert.deepEqual(await guard.addressesOf('mixed'), [{ address: '8.8.8.8', family: 4 }])
  await assert.rejects(guard.addressesOf('inner'), INTERNAL)
  await assert.rejects(guard.addressesOf('nobody'), { code: 'outbound.HOST_UNKNOWN' })
})

test('a socket connects to the address that was checked: a name that changes its mind is asked once', async () => {
  const server = createServer((socket) => socket.end('here')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  let asked = 0
  // The second answer is where a rebinding name would lead to.
  const guard = new AddressGuard(['127.0.0.1'], async () => [
    { address: ++asked === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 },
  ])
  const socket = connect({ host: 'turncoat.example', port, lookup: guard.lookup })
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  assert.deepEqual([chunk.toString(), socket.remoteAddress, asked], ['here', '127.0.0.1', 1])
  const second = connect({ host: 'turncoat.example', port, lookup: guard.lookup })
  const [error] = (await once(second, 'error')) as [Error & { code: string }]
  assert.equal(error.code, 'outbound.ADDRESS_INTERNAL')
  server.close()
})
