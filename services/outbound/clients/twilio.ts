/** Text messages by Twilio's client, its requests sent by our own HTTP client: so they have its guard, its bounds and no proxy of the environment. */
import twilio from 'twilio'
import type { HttpAnswer, HttpCall, TwilioAccount } from '../../../engine/rulechain/capabilities/outbound.ts'
import type { OpenClient } from '../raw-client.ts'
import { openHttp } from './http.ts'

const MAX_ANSWER_BYTES = 64 * 1024

interface Answer<Body> {
  readonly statusCode: number
  readonly body: Body
  readonly headers: object
}

export const openTwilio: OpenClient<'twilio'> = async (account, parts) => {
  const http = await openHttp({ maxAnswerBytes: MAX_ANSWER_BYTES }, parts)
  return {
    call: async ({ numberTo, text }, signal, takeAnswer) => {
      const { accountSid, accountToken, numberFrom } = account
      const httpClient = new GuardedRequests(account, (call) => http.call(call, signal, takeAnswer))
      const { messages } = new twilio.Twilio(accountSid, accountToken, { httpClient })
      await messages.create({ to: numberTo, body: text, ...senderOf(numberFrom) })
    },
    close: () => http.close(),
  }
}

function senderOf(number: string): { readonly messagingServiceSid: string } | { readonly from: string } {
  return number.startsWith('MG') ? { messagingServiceSid: number } : { from: number }
}

class GuardedRequests extends twilio.RequestClient {
  private readonly account: TwilioAccount
  private readonly send: (call: HttpCall) => Promise<HttpAnswer>

  constructor(account: TwilioAccount, send: (call: HttpCall) => Promise<HttpAnswer>) {
    super()
    this.account = account
    this.send = send
  }

  /** The texts of answers are Twilio's client's to read. */
  override async request<Body>({ method, uri, data }: Request): Promise<Answer<Body>> {
    const { accountSid, accountToken, endpoint } = this.account
    const url = new URL(uri)
    const login = Buffer.from(`${accountSid}:${accountToken}`).toString('base64')
    const headers = {
      Authorization: `Basic ${login}`,
      Accept: 'application/json',
      'Content-Type': 'application/x-www-form-urlencoded',
    }
    const call = {
      ...{ method: method.toUpperCase(), headers },
      url: endpoint === undefined ? uri : `${endpoint}${url.pathname}${url.search}`,
      body: formOf(typeof data === 'object' && data !== null ? data : {}),
    }
    const { status, body, headers: answered } = await this.send(call)
    const text: unknown = body
    return { statusCode: status, body: text as Body, headers: Object.fromEntries(answered) }
  }
}

interface Request {
  readonly method: string
  readonly uri: string
  readonly data?: unknown
}

function formOf(data: object): string {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(data) as [string, unknown][])
    if (typeof value === 'string') form.append(name, value)
  return form.toString()
}
