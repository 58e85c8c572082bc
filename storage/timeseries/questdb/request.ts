/** One HTTP request with an answer of bounded size. Over node:http, as `fetch` costs twice the processor time for the small answers that are most. */
import http from 'node:http'
import https from 'node:https'
import type { SecureContextOptions } from 'node:tls'

export interface HttpAnswer {
  readonly status: number
  readonly text: string
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Milliseconds in all. */
  readonly timeoutMs: number
  readonly maxBytes: number
}

export class AnswerTooBig extends Error {}

class StaleConnection extends Error {}

/** Connections that are kept between requests. */
export class HttpClient {
  private readonly agent: http.Agent
  private readonly start: typeof http.request

  constructor(url: URL, trust: Pick<SecureContextOptions, 'ca'> = {}) {
    const options = { ...trust, keepAlive: true, maxSockets: 32, maxFreeSockets: 8 }
    this.agent = url.protocol === 'https:' ? new https.Agent(options) : new http.Agent(options)
    this.start = url.protocol === 'https:' ? https.request : http.request
  }

  /** Repeats a request whose kept connection the server had closed meanwhile. Rejects with AnswerTooBig, or what the connection says. */
  async request(url: string, request: HttpRequest): Promise<HttpAnswer> {
    try {
      return await this.once(url, request)
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error
      return this.once(url, request)
    }
  }

  private once(url: string, { method, headers, body, timeoutMs, maxBytes }: HttpRequest): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(timeoutMs)
      const options = { method, headers, agent: this.agent, signal }
      const sent = this.start(url, options, (response) => {
        const chunks: Buffer[] = []
        let size = 0
        response.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size > maxBytes) sent.destroy(new AnswerTooBig())
          else chunks.push(chunk)
        })
        response.on('error', reject)
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks, size).toString() })
        })
      })
      sent.on('error', (error: NodeJS.ErrnoException) => {
        const isStale = sent.reusedSocket && error.code === 'ECONNRESET'
        reject(isStale ? new StaleConnection(error.message) : error)
      })
      sent.end(body)
    })
  }

  close(): void {
    this.agent.destroy()
  }
}
