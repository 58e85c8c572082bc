/** A front end as tests play it: logged in, its calls of REST, and its socket with the frames of each command in their order. */
import { TestClient } from '../security/socket.ts'
import { RestClient } from './clients.ts'
import type { RunningMillrace } from './start-millrace.ts'

export interface Ref {
  readonly entityType: string
  readonly id: string
}

/** As much of any entity as front ends rely on. */
export type Row = Readonly<Record<string, unknown>> & { readonly id: Ref; readonly version: number }

export interface PageOf<Item = Row> {
  readonly data: readonly Item[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

/** What a table of a front end puts behind a path. */
export function tablePage(sortProperty = 'createdTime', more: Readonly<Record<string, string>> = {}): string {
  return `?${new URLSearchParams({ pageSize: '10', page: '0', sortProperty, sortOrder: 'DESC', ...more }).toString()}`
}

export interface TokenPair {
  readonly token: string
  readonly refreshToken: string
}

/** The access token too is new, with the session that it had. */
export async function refreshed(millrace: RunningMillrace, refreshToken: string): Promise<TokenPair> {
  const body = JSON.stringify({ refreshToken })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${millrace.url}/api/auth/token`, { method: 'POST', headers, body })
  if (response.status !== 200) throw new Error(`the token was not refreshed: ${await response.text()}`)
  return (await response.json()) as TokenPair
}

export class FrontEnd {
  readonly rest: RestClient
  readonly token: string
  private readonly millrace: RunningMillrace

  constructor(millrace: RunningMillrace, token: string) {
    this.millrace = millrace
    this.token = token
    this.rest = new RestClient(millrace, token)
  }

  get<Answer>(path: string): Promise<Answer> {
    return this.rest.expect<Answer>('GET', path)
  }

  post<Answer>(path: string, body?: unknown): Promise<Answer> {
    return this.rest.expect<Answer>('POST', path, body)
  }

  /** One tab. */
  openSocket(): Promise<FrontEndSocket> {
    return FrontEndSocket.open(this.millrace, this.token)
  }
}

export class FrontEndSocket {
  private readonly client: TestClient
  /** Of each command the frames that were looked at. */
  private readonly seen = new Map<number, number>()

  private constructor(client: TestClient) {
    this.client = client
  }

  /** Front ends say the type of this command too. */
  static async open(millrace: RunningMillrace, token: string): Promise<FrontEndSocket> {
    return new FrontEndSocket(await TestClient.open(millrace.url, { type: 'AUTH', token }))
  }

  send(...cmds: readonly object[]): void {
    this.client.send(...cmds)
  }

  /** The next frame of a command. Fails where the socket closes before. */
  async next<Frame>(cmdId: number): Promise<Frame> {
    const from = this.seen.get(cmdId) ?? 0
    const frame = await this.client.frame(({ id }) => id === cmdId, from)
    this.seen.set(cmdId, this.client.frames.indexOf(frame, from) + 1)
    return JSON.parse(frame.text) as Frame
  }

  /** Frames of a command that nobody looked at, once all that was sent has been answered. */
  async left(cmdId: number): Promise<readonly string[]> {
    await this.client.barrier()
    const from = this.seen.get(cmdId) ?? 0
    return this.client.frames.slice(from).flatMap(({ id, text }) => (id === cmdId ? [text] : []))
  }

  get isOpen(): boolean {
    return this.client.closed === undefined
  }

  close(): void {
    this.client.close()
  }
}
