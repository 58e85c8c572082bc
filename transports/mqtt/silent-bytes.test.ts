import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMqttBench } from './testkit.ts'

/** The head of a CONNECT of 60,000 bytes, and so many of them. */
function half(bytes: number): Buffer {
  return Buffer.concat([Buffer.of(0x10, 0xe0, 0xd4, 0x03), Buffer.alloc(bytes - 4)])
}

test('halves of a CONNECT take a bounded part of memory together, and hold up nobody whose own is whole', async (context) => {
  const { client, transport, close } = await openMqttBench({ maxSilentBytes: 10_000 })
  context.after(close)
  const turn = () => new Promise(setImmediate)
  const [first, second, third] = [await client(), await client(), await client()]
  for (const each of [first, second]) each.socket.write(half(4000))
  third.socket.write(half(4000))
  while (transport.figures().silentDropped < 1) await turn()
  while (![first, second, third].some(({ closed }) => closed)) await turn()
  const device = await client()
  await device.login('one')
  for (const each of [first, second, third]) each.socket.destroy()
  while (transport.figures().connections > 1) await turn()
  const [again, late] = [await client(), await client()]
  again.socket.write(half(9000))
  late.socket.write(late.bytes(late.connectPacket('two')))
  await late.received(1)
  assert.equal(again.closed, false)
  assert.equal(transport.figures().silentDropped, 1)
  // It grows where it is, by twice its room.
  again.socket.write(Buffer.alloc(2000))
  await again.end()
  assert.equal(transport.figures().silentDropped, 2)
})
