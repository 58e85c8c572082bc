/** For the tests of CoAP: a client that writes and reads datagrams, so that a test sees what is on the wire. */
import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { systemRandom } from '../../model/system-clock.ts'
import { FakeGateway, StandingClock, recordingLog } from '../testkit.ts'
import {
  encodeMessage,
  OptionNumber,
  parseMessage,
  uintBytes,
  uintOf,
  type CoapMessage,
  type MessageType,
} from '../coap-messages/codec.ts'
import type { CoapLimits } from './limits.ts'
import { blockBytes, type BlockOption } from '../coap-messages/message.ts'
import { startCoapTransport, type CoapTransport } from './server.ts'

export interface Asked {
  readonly code?: string
  readonly path: string
  readonly query?: readonly string[]
  readonly type?: 'CON' | 'NON'
  readonly token?: string
  readonly id?: number
  readonly observe?: number
  readonly block1?: BlockOption
  readonly block2?: BlockOption
  readonly options?: readonly { readonly number: number; readonly value: Buffer }[]
  readonly payload?: string | Buffer
}

/** What a test compares of a message. */
export interface Shown {
  readonly type: MessageType
  readonly code: string
  readonly text: string
  readonly observe?: number
  readonly format?: number
  readonly block1?: string
  readonly block2?: string
}

const CHARACTERS_SHOWN = 100

export class RawClient {
  readonly messages: CoapMessage[] = []
  private readonly socket: Socket
  private readonly port: number
  /** As RFC 7252, 4.4 advises: on a port that another client had a moment ago the same ids would be its messages once more. */
  private id = randomInt(0x8000)
  private readonly changed = new Set<() => void>()

  private constructor(socket: Socket, port: number) {
    this.socket = socket
    this.port = port
    socket.on('message', (datagram) => {
      const message = parseMessage(datagram)
      if (message === undefined) throw new Error('the server sent no CoAP')
      this.messages.push(message)
      for (const tell of [...this.changed]) tell()
    })
  }

  static async open(port: number, from = '127.0.0.1'): Promise<RawClient> {
    const socket = createSocket('udp4')
    socket.bind(0, from)
    await once(socket, 'listening')
    return new RawClient(socket, port)
  }

  /** Where it sends from. */
  get ownPort(): number {
    return this.socket.address().port
  }

  sendBytes(datagram: Buffer): void {
    this.socket.send(datagram, this.port, '127.0.0.1')
  }

  /** Returns the id of the message. */
  send(asked: Asked): number {
    const id = asked.id ?? ++this.id
    this.sendBytes(encodeMessage(messageOf(asked, id)))
    return id
  }

  reply(type: 'ACK' | 'RST', id: number): void {
    const nothing = Buffer.alloc(0)
    this.sendBytes(encodeMessage({ type, code: '0.00', id, token: nothing, options: [], payload: nothing }))
  }

  /** The message of that number, from 0, once it has come. */
  async message(index: number): Promise<CoapMessage> {
    for (;;) {
      const message = this.messages[index]
      if (message !== undefined) return message
      await new Promise<void>((resolve) => {
        const heard = (): void => {
          this.changed.delete(heard)
          resolve()
        }
        this.changed.add(heard)
      })
    }
  }

  /** Sends and takes the next message. */
  async ask(asked: Asked): Promise<Shown> {
    const index = this.messages.length
    this.send(asked)
    return shown(await this.message(index))
  }

  /** Sends and takes the answer: one that takes the server long comes behind an empty acknowledgement (RFC 7252, 5.2.2). */
  async answerTo(asked: Asked): Promise<Shown> {
    let index = this.messages.length
    this.send(asked)
    for (;;) {
      const message = await this.message(index++)
      if (message.type === 'CON') this.reply('ACK', message.id)
      if (message.code !== '0.00' || message.type === 'RST') return shown(message)
    }
  }

  close(): void {
    this.socket.close()
  }
}

export function shown({ type, code, options, payload }: CoapMessage): Shown {
  const valueOf = (number: number): Buffer | undefined => options.find((option) => option.number === number)?.value
  const [observe, format, block1, block2] = [
    valueOf(OptionNumber.OBSERVE),
    valueOf(OptionNumber.CONTENT_FORMAT),
    valueOf(OptionNumber.BLOCK1),
    valueOf(OptionNumber.BLOCK2),
  ]
  return {
    type,
    code,
    text: payload.toString('utf8').slice(0, CHARACTERS_SHOWN),
    ...(observe === undefined ? {} : { observe: uintOf(observe) }),
    ...(format === undefined ? {} : { format: uintOf(format) }),
    ...(block1 === undefined ? {} : { block1: blockText(block1) }),
    ...(block2 === undefined ? {} : { block2: blockText(block2) }),
  }
}

/** `number/more/size`. */
function blockText(value: Buffer): string {
  const packed = uintOf(value)
  return `${packed >>> 4}/${(packed & 8) === 0 ? 'last' : 'more'}/${2 ** ((packed & 7) + 4)}`
}

function messageOf(asked: Asked, id: number): CoapMessage {
  const text = (number: number, value: string) => ({ number, value: Buffer.from(value) })
  const { observe, block1, block2 } = asked
  const options = [
    ...(observe === undefined ? [] : [{ number: OptionNumber.OBSERVE, value: uintBytes(observe) }]),
    ...asked.path
      .split('/')
      .slice(1)
      .map((segment) => text(OptionNumber.URI_PATH, segment)),
    ...(asked.query ?? []).map((parameter) => text(OptionNumber.URI_QUERY, parameter)),
    ...(block2 === undefined ? [] : [{ number: OptionNumber.BLOCK2, value: blockBytes(block2) }]),
    ...(block1 === undefined ? [] : [{ number: OptionNumber.BLOCK1, value: blockBytes(block1) }]),
    ...(asked.options ?? []),
  ]
  return {
    type: asked.type ?? 'CON',
    code: asked.code ?? '0.02',
    id,
    token: Buffer.from(asked.token ?? 'a1a2', 'hex'),
    options,
    payload: Buffer.from(asked.payload ?? ''),
  }
}

export interface Bench {
  readonly gateway: FakeGateway
  readonly clock: StandingClock
  readonly transport: CoapTransport
  readonly lines: string[]
  /** `from`: an address of this machine. */
  readonly client: (from?: string) => Promise<RawClient>
}

/** Devices `one`, `two` and `foreign`. */
export async function bench(run: (bench: Bench) => Promise<void>, limits: Partial<CoapLimits> = {}): Promise<void> {
  const gateway = new FakeGateway(['one', 'two', 'foreign'])
  const clock = new StandingClock()
  const lines: string[] = []
  const transport = await startCoapTransport({
    ...{ gateway, clock, limits, bindAddress: '127.0.0.1', port: 0 },
    ...{ random: systemRandom, log: recordingLog(lines) },
  })
  const clients: RawClient[] = []
  const client = async (from?: string): Promise<RawClient> => {
    const opened = await RawClient.open(transport.port, from)
    clients.push(opened)
    return opened
  }
  try {
    await run({ gateway, clock, transport, lines, client })
  } finally {
    for (const each of clients) each.close()
    await transport.close()
  }
}
