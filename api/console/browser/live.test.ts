import assert from 'node:assert/strict'
import { test } from 'node:test'
import { follow } from './live.js'

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
