/** A WebSocket client of the security tests: what it was sent, and when an answer is there. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { WebSocket } from 'ws'

export interface Frame {
  readonly text: string
  /** Of the command that it answers. */
  readonly id: number
  readonly errorCode: number
}

export class TestClient {
  readonly frames: Frame[] = []
  closed: { readonly code: number; readonly reason: string } | undefined
  private readonly socket: WebSocket
  private waiting: (() => void)[] = []
  private barriers = 0

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data: Buffer) => {
      const text = data.toString()
      const { cmdId, subscriptionId, errorCode } = JSON.parse(text) as Readonly<Record<string, number | undefined>>
      this.frames.push({ text, id: subscriptionId ?? cmdId ?? 0, errorCode: errorCode ?? 0 })
      this.wake()
    })
    socket.on('close', (code: number, reason: Buffer) => {
      this.closed = { code, reason: reason.toString() }
      this.wake()
    })
  }

  /** `url` is that of the REST API; `login` the members of an authCmd. */
  static async open(url: string, login: object): Promise<TestClient> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/ws`)
    const client = new TestClient(socket)
    await once(socket, 'open')
    socket.send(JSON.stringify({ authCmd: { cmdId: 0, ...login } }))
    return client
  }

  send(...cmds: readonly object[]): void {
    this.socket.send(JSON.stringify({ cmds }))
  }

  /** The first frame, from the number of frames on, that fits. Fails where the socket closes before. */
  async frame(fits: (frame: Frame) => boolean, from = 0): Promise<Frame> {
    for (;;) {
      const found = this.frames.slice(from).find(fits)
      if (found !== undefined) return found
      assert.equal(this.closed, undefined, 'the socket was closed')
      await new Promise<void>((resolve) => this.waiting.push(resolve))
    }
  }

  async closing(): Promise<{ readonly code: number; readonly reason: string }> {
    while (this.closed === undefined) await new Promise<void>((resolve) => this.waiting.push(resolve))
    return this.closed
  }

  /** All that the server had to say to what was sent before, and did at once, has arrived. */
  async barrier(times = 10): Promise<void> {
    for (let count = 0; count < times; count++) {
      const id = -++this.barriers
      this.send({ type: 'TIMESERIES', cmdId: id })
      await this.frame((frame) => frame.id === id)
    }
  }

  close(): void {
    this.socket.close()
  }

  private wake(): void {
    for (const resolve of this.waiting.splice(0)) resolve()
  }
}
