import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connected, follow } from './live.js'

/** What the server says, and what the page hears of it. */
function world() {
  const later: { act: () => void; afterMs: number }[] = []
  const states: string[] = []
  const heard: unknown[] = []
  class FakeSocket extends EventTarget {
    readonly sent: unknown[] = []
    send(text: string): void {
      this.sent.push(JSON.parse(text))
    }
    close(): void {
      this.dispatchEvent(new Event('close'))
    }
    opens(): void {
      this.dispatchEvent(new Event('open'))
    }
    says(frame: object): void {
      this.dispatchEvent(
        new MessageEvent('message', { data: JSON.stringify({ subscriptionId: 1, errorCode: 0, ...frame }) }),
      )
    }
  }
  const sockets: FakeSocket[] = []
  const open = () => {
    const socket = new FakeSocket()
    sockets.push(socket)
    return socket
  }
  return { sockets, later, states, heard, open }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a connection that ends is made again, ever later, and says what is old', async () => {
  const { sockets, later, states, heard, open } = world()
  follow({
    url: 'ws://x/api/ws',
    deviceId: 'd',
    token: async () => `t${sockets.length}`,
    onValues: (values: unknown, isSnapshot: boolean) => heard.push([values, isSnapshot]),
    onState: ({ state }: { state: string }) => states.push(state),
    isFinal: () => false,
    open,
    later: (act: () => void, afterMs: number) => later.push({ act, afterMs }),
  })
  await settled()
  sockets[0]?.opens()
  const command = { type: 'TIMESERIES', cmdId: 1, entityType: 'DEVICE', entityId: 'd', keys: '' }
  assert.deepEqual(sockets[0]?.sent, [{ authCmd: { cmdId: 0, token: 't0' }, cmds: [command] }])
  sockets[0]?.says({ data: { t: [[1, '2']] } })
  sockets[0]?.says({ data: { t: [[2, '3']] } })
  assert.deepEqual(heard, [
    [{ t: [[1, '2']] }, true],
    [{ t: [[2, '3']] }, false],
  ])
  const waits: number[] = []
  for (let round = 0; round < 7; round++) {
    sockets.at(-1)?.close()
    const { act, afterMs } = later.pop() ?? { act: () => undefined, afterMs: 0 }
    waits.push(afterMs)
    act()
    await settled()
  }
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16000, 30000, 30000])
  // Each asks for the session's token of that moment, and begins with all values again.
  sockets.at(-1)?.opens()
  sockets.at(-1)?.says({ data: { t: [[9, '9']] } })
  assert.deepEqual(heard.at(-1), [{ t: [[9, '9']] }, true])
  assert.equal(states.filter((state) => state === 'live').length, 2)
  sockets.at(-1)?.close()
  assert.equal(later.at(-1)?.afterMs, 1000)
})

test('a refused command and a session that has ended are final', async () => {
  const { sockets, later, states, open } = world()
  const parts = {
    url: 'ws://x/api/ws',
    deviceId: 'd',
    onValues: () => undefined,
    onState: ({ state }: { state: string }) => states.push(state),
    isFinal: () => true,
    open,
    later: (act: () => void, afterMs: number) => later.push({ act, afterMs }),
  }
  follow({ ...parts, token: async () => 't' })
  await settled()
  sockets[0]?.says({ errorCode: 1, errorMsg: 'Failed to fetch data!' })
  follow({ ...parts, token: () => Promise.reject(new Error('ended')) })
  await settled()
  assert.deepEqual([states, later, sockets.length], [['ended', 'ended'], [], 1])
})

test('a frame that says that others were left out leads to another connection, which begins with all values', async () => {
  const { sockets, later, states, open } = world()
  follow({
    url: 'ws://x/api/ws',
    deviceId: 'd',
    token: async () => 't',
    onValues: () => undefined,
    onState: ({ state }: { state: string }) => states.push(state),
    isFinal: () => true,
    open,
    later: (act: () => void, afterMs: number) => later.push({ act, afterMs }),
  })
  await settled()
  sockets[0]?.says({ data: { t: [[1, '2']] } })
  sockets[0]?.says({ errorCode: 34, errorMsg: 'Too many updates!' })
  assert.deepEqual([states, later.map(({ afterMs }) => afterMs)], [['live', 'waiting'], [1000]])
})

test('all that a page follows comes over one connection, and is asked for again after a gap', async () => {
  const { sockets, later, open } = world()
  const heard: string[] = []
  const live = connected({
    url: 'ws://x/api/ws',
    token: async () => 't',
    onState: () => undefined,
    isFinal: () => true,
    open,
    later: (act: () => void, afterMs: number) => later.push({ act, afterMs }),
  })
  const topic = (name: string) => ({
    command: (cmdId: number) => ({ type: 'ENTITY_DATA', cmdId, name }),
    onFrame: (frame: Record<string, unknown>, isFirst: boolean) =>
      heard.push(`${name} ${String(frame['n'])} ${isFirst}`),
    onRefused: (error: Error) => heard.push(`${name} ${error.message}`),
  })
  const [first, second] = [live.follow(topic('a')), live.follow(topic('b'))]
  await settled()
  sockets[0]?.opens()
  const frame = (cmdId: number, n: number) => ({ subscriptionId: undefined, cmdId, n })
  sockets[0]?.says(frame(2, 1))
  sockets[0]?.says(frame(2, 2))
  sockets[0]?.says({ ...frame(1, 3), errorCode: 1, errorMsg: 'no' })
  second.again()
  sockets[0]?.says(frame(2, 4))
  first.end('ENTITY_DATA_UNSUBSCRIBE')
  sockets[0]?.says(frame(1, 5))
  assert.deepEqual(heard, ['b 1 true', 'b 2 false', 'a no', 'b 4 true'])
  sockets[0]?.close()
  later.pop()?.act()
  await settled()
  sockets[1]?.opens()
  const asked = (socket: (typeof sockets)[number] | undefined) =>
    socket?.sent.flatMap((each) => (each as { cmds: { cmdId: number; type: string }[] }).cmds.map(({ cmdId }) => cmdId))
  assert.deepEqual([asked(sockets[0]), asked(sockets[1])], [[1, 2, 2, 1], [2]])
})

test('commands go out in frames that the server takes', async () => {
  const { sockets, open } = world()
  const parts = { url: 'x', token: async () => 't', onState: () => undefined, isFinal: () => true, open }
  const live = connected(parts)
  const keys = 'k'.repeat(3_000)
  for (let index = 0; index < 20; index++)
    live.follow({ command: (cmdId) => ({ cmdId, keys }), onFrame: () => undefined, onRefused: () => undefined })
  await settled()
  sockets[0]?.opens()
  const sizes = sockets[0]?.sent.map((each) => JSON.stringify(each).length) ?? []
  assert.ok(Math.max(...sizes) < 32_768 && sizes.length < 10, sizes.join())
})

test('a command that the server would not take is refused here, and the others go on', async () => {
  const { sockets, later, states, open } = world()
  const refused: string[] = []
  const live = connected({
    url: 'x',
    token: async () => 't',
    onState: ({ state }: { state: string }) => states.push(state),
    isFinal: () => true,
    open,
    later: (act: () => void, afterMs: number) => later.push({ act, afterMs }),
  })
  const topic = (keys: string) => ({
    command: (cmdId: number) => ({ cmdId, keys }),
    onFrame: () => undefined,
    onRefused: (error: Error) => refused.push(error.message),
  })
  // Bytes count: each of these letters has three.
  live.follow(topic('…'.repeat(11_000)))
  await settled()
  sockets[0]?.opens()
  await settled()
  assert.deepEqual(refused, ['It asks for too much at once: name fewer entities, keys or filters.'])
  assert.deepEqual([states, sockets[0]?.sent], [['live'], [{ authCmd: { cmdId: 0, token: 't' }, cmds: [] }]])
  live.follow(topic('short'))
  live.follow(topic('x'.repeat(40_000)))
  await settled()
  assert.equal(refused.length, 2)
  assert.deepEqual(sockets[0]?.sent.slice(1), [{ cmds: [{ cmdId: 2, keys: 'short' }] }])
})
