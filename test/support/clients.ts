/** The smallest clients that whole-system tests share: login, REST calls with a token, the demo device's ids. */
import type { RunningMillrace } from './start-millrace.ts'

export const DEMO_TENANT = { username: 'tenant@millrace.local', password: 'tenant' }
export const DEMO_CUSTOMER = { username: 'customer@millrace.local', password: 'customer' }
export const DEMO_SYSADMIN = { username: 'sysadmin@millrace.local', password: 'sysadmin' }
export const DEMO_TOKEN = 'DEMO_THERMOMETER'

/** Throws with status and body when the login is refused. */
export async function login(millrace: RunningMillrace, account = DEMO_TENANT): Promise<string> {
  const response = await fetch(`${millrace.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(account),
  })
  const body = await response.text()
  if (response.status !== 200) throw new Error(`login answered ${response.status}: ${body}`)
  return (JSON.parse(body) as { token: string }).token
}

export interface RestAnswer {
  readonly status: number
  readonly text: string
  json<Body>(): Body
}

export class RestClient {
  private readonly url: string
  private readonly token: string

  constructor(millrace: RunningMillrace, token: string) {
    this.url = millrace.url
    this.token = token
  }

  async call(method: string, path: string, body?: unknown): Promise<RestAnswer> {
    const response = await fetch(this.url + path, {
      method,
      headers: { 'x-authorization': `Bearer ${this.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, json: <Body>() => JSON.parse(text) as Body }
  }

  /** Like `call`, and throws unless the answer is 200. */
  async expect<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await this.call(method, path, body)
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`)
    return answer.text === '' ? (undefined as Body) : answer.json<Body>()
  }

  /** Sends a file as a form does. Throws unless the answer is 200. */
  async upload(path: string, bytes: Buffer<ArrayBuffer>): Promise<void> {
    const body = new FormData()
    body.set('file', new Blob([bytes]), 'image.bin')
    const headers = { 'x-authorization': `Bearer ${this.token}` }
    const answer = await fetch(this.url + path, { method: 'POST', headers, body })
    if (answer.status !== 200) throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`)
  }

  /** Creates a device with the given access token and returns its id. */
  async createDevice(name: string, accessToken: string): Promise<string> {
    const device = await this.expect<{ id: { id: string } }>(
      'POST',
      `/api/device?accessToken=${encodeURIComponent(accessToken)}`,
      { name },
    )
    return device.id.id
  }
}
