/** For the tests of LwM2M: a client that registers and answers as the test says, and sees what is asked of it. */
import { systemRandom } from '../../model/system-clock.ts'
import {
  encodeMessage,
  OptionNumber,
  uintBytes,
  uintOf,
  type CoapMessage,
  type CoapOption,
} from '../coap-messages/codec.ts'
import { RawClient, type Asked } from '../coap/testkit.ts'
import { FakeGateway, recordingLog, StandingClock } from '../testkit.ts'
import type { Lwm2mLimits } from './limits.ts'
import { startLwm2mTransport, type Lwm2mTransport } from './server.ts'

export interface Reply {
  readonly code: string
  readonly format?: number
  readonly observe?: number
  readonly payload?: string | Buffer
  readonly options?: readonly CoapOption[]
}

/** What the server asked: `GET /3/0/9`, with `observe=0` and the like behind it, and its body. */
export interface Request {
  readonly text: string
  readonly message: CoapMessage
}

const METHODS: Readonly<Record<string, string>> = {
  ...{ '0.01': 'GET', '0.02': 'POST', '0.03': 'PUT', '0.04': 'DELETE', '0.05': 'FETCH', '0.07': 'iPATCH' },
}
export const LINKS = '</>;rt="oma.lwm2m";ct="110 11542",</1/0>,</3/0>'

export class TestClient {
  readonly raw: RawClient
  registrationId = ''
  private seen = 0
  private tokens = 0

  private constructor(raw: RawClient) {
    this.raw = raw
  }

  static async open(port: number): Promise<TestClient> {
    return new TestClient(await RawClient.open(port))
  }

  /** The code of the answer. */
  async register(endpoint: string, more: readonly string[] = [], links = LINKS): Promise<string> {
    const query = [`ep=${endpoint}`, 'lwm2m=1.1', 'lt=60', ...more]
    const answer = await this.ask({ path: '/rd', query, payload: links })
    this.registrationId = answer.options
      .filter(({ number }) => number === OptionNumber.LOCATION_PATH)
      .map(({ value }) => value.toString())
      .slice(1)
      .join('/')
    return answer.code
  }

  async update(more: readonly string[] = [], payload = ''): Promise<string> {
    const path = `/rd/${this.registrationId}`
    return (await this.ask({ path, query: more, payload })).code
  }

  async deregister(): Promise<string> {
    return (await this.ask({ code: '0.04', path: `/rd/${this.registrationId}` })).code
  }

  /** The next thing that the server asks. */
  async asked(): Promise<Request> {
    for (;;) {
      const message = await this.raw.message(this.seen++)
      const method = METHODS[message.code]
      if (method === undefined) continue
      const path: string[] = []
      const more: string[] = []
      for (const { number, value } of message.options) {
        if (number === OptionNumber.URI_PATH) path.push(value.toString())
        else if (number === OptionNumber.URI_QUERY) more.push(value.toString())
        else if (number === OptionNumber.OBSERVE) more.push(`observe=${uintOf(value)}`)
        else if (number === OptionNumber.CONTENT_FORMAT) more.push(`format=${uintOf(value)}`)
      }
      const body = message.payload.toString('utf8')
      return { text: [`${method} /${path.join('/')}`, ...more, ...(body === '' ? [] : [body])].join(' '), message }
    }
  }

  /** In the acknowledgement. */
  reply({ message: { id, token } }: Request, reply: Reply): void {
    this.raw.sendBytes(encodeMessage({ type: 'ACK', id, token, ...partsOf(reply) }))
  }

  /** Takes the next request, compares nothing, answers; returns what it was. */
  async answerNext(reply: Reply): Promise<string> {
    const request = await this.asked()
    this.reply(request, reply)
    return request.text
  }

  notify({ message: { token } }: Request, id: number, reply: Reply, type: 'CON' | 'NON' = 'CON'): void {
    this.raw.sendBytes(encodeMessage({ type, id, token, ...partsOf(reply) }))
  }

  /** Sends and takes the answer: one that takes the server long comes behind an empty acknowledgement (RFC 7252, 5.2.2), with the token. */
  async ask(asked: Asked): Promise<CoapMessage> {
    const token = (++this.tokens).toString(16).padStart(8, '0')
    const first = await this.answerTo(this.raw.send({ ...asked, token }))
    if (first.type !== 'ACK' || first.code !== '0.00') return first
    for (let index = this.raw.messages.indexOf(first) + 1; ; index++) {
      const message = await this.raw.message(index)
      if (message.token.toString('hex') !== token) continue
      if (message.type === 'CON') this.raw.reply('ACK', message.id)
      return message
    }
  }

  /** The answer to a message of this id; what else comes is left for `asked`. */
  async answerTo(id: number): Promise<CoapMessage> {
    for (let index = 0; ; index++) {
      const message = await this.raw.message(index)
      if (message.id === id && METHODS[message.code] === undefined) return message
    }
  }
}

function partsOf({ code, format, observe, payload = '', options = [] }: Reply) {
  return {
    code,
    options: [
      ...(observe === undefined ? [] : [{ number: OptionNumber.OBSERVE, value: uintBytes(observe) }]),
      ...(format === undefined ? [] : [{ number: OptionNumber.CONTENT_FORMAT, value: uintBytes(format) }]),
      ...options,
    ],
    payload: Buffer.from(payload),
  }
}

export interface Bench {
  readonly gateway: FakeGateway
  readonly clock: StandingClock
  readonly transport: Lwm2mTransport
  readonly lines: string[]
  readonly client: () => Promise<TestClient>
  /** One that talks to the bootstrap server. */
  readonly newcomer: () => Promise<TestClient>
}

/** Devices `one`, `two` and `foreign`, whose profile is `configuration`. */
export async function bench(
  configuration: FakeGateway['lwm2m'],
  run: (bench: Bench) => Promise<void>,
  limits: Partial<Lwm2mLimits> = {},
): Promise<void> {
  const gateway = new FakeGateway(['one', 'two', 'foreign'])
  gateway.lwm2m = configuration
  const clock = new StandingClock()
  const lines: string[] = []
  const log = recordingLog(lines)
  const transport = await startLwm2mTransport({
    ...{ gateway, clock, limits, log, bindAddress: '127.0.0.1', port: 0, random: systemRandom },
    bootstrap: { bindAddress: '127.0.0.1', port: 0 },
  })
  const clients: TestClient[] = []
  const open = async (port: number | undefined): Promise<TestClient> => {
    const opened = await TestClient.open(port ?? 0)
    clients.push(opened)
    return opened
  }
  const client = (): Promise<TestClient> => open(transport.port)
  const newcomer = (): Promise<TestClient> => open(transport.bootstrapPort)
  try {
    await run({ gateway, clock, transport, lines, client, newcomer })
  } finally {
    for (const { raw } of clients) raw.close()
    await transport.close()
  }
}
