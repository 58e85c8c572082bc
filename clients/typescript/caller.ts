/** One call over HTTP: its address, its body, and what its answer is. */
import { ApiError } from './api-error.ts'

export interface CallOptions {
  /** Ends the call from outside. */
  readonly signal?: AbortSignal
  /** In the place of the client's own. */
  readonly timeoutMs?: number
}

/** What of a call is the same each time. */
export interface Operation {
  readonly method: string
  /** Parameters in braces. */
  readonly path: string
  readonly query?: readonly string[]
  readonly headers?: readonly string[]
  readonly body?: 'json' | 'text' | 'form'
  /** The answer is bytes, whatever its content type says. */
  readonly isFile?: boolean
}

/** Parameters by their names, and `body`. */
export type Given = Readonly<Record<string, unknown>>

export abstract class Caller {
  /**
   * The answer of an operation: JSON, a text or a `Blob`; undefined for an empty one. That it is of the type asked for is the
   * server's promise: it is not checked here. Throws `ApiError` for what the server refuses, and what `fetch` throws.
   */
  abstract call<Answer>(operation: Operation, given?: Given, options?: CallOptions): Promise<Answer>
}

/** Throws a `TypeError` for a path parameter that is no name: the address would be another one. */
export function addressOf(url: string, { path, query = [] }: Operation, given: Given): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = textOf(given[name])
    if (/^\.{0,2}$/.test(text)) throw new TypeError(`'${text}' can not be the ${name} of ${path}`)
    return encodeURIComponent(text)
  })
  const asked = new URLSearchParams()
  for (const name of query) {
    const value = given[name]
    if (value === undefined) continue
    for (const item of Array.isArray(value) ? (value as readonly unknown[]) : [value]) asked.append(name, textOf(item))
  }
  return `${url}${filled}${asked.size === 0 ? '' : `?${asked.toString()}`}`
}

export interface CallRequest {
  readonly headers: Headers
  readonly body?: string | FormData
}

/** Made anew for each try. */
export function requestOf(operation: Operation, given: Given): CallRequest {
  const headers = new Headers({ accept: 'application/json, text/plain, */*' })
  for (const name of operation.headers ?? []) headers.set(name, textOf(given[name]))
  const { body } = given
  if (operation.body === undefined || body === undefined) return { headers }
  // Of a form `fetch` says the type itself: it chooses the boundary.
  if (operation.body === 'form') return { headers, body: formOf(body as Given) }
  headers.set('content-type', operation.body === 'text' ? 'text/plain' : 'application/json')
  return { headers, body: operation.body === 'text' ? textOf(body) : JSON.stringify(body) }
}

/** Throws `ApiError` unless the status says success. */
export async function answerOf<Answer>(response: Response, operation: Operation): Promise<Answer> {
  if (!response.ok) throw ApiError.of(operation, response.status, await response.text())
  return (await contentOf(response, operation)) as Answer
}

async function contentOf(response: Response, { isFile }: Operation): Promise<unknown> {
  if (isFile === true) return response.blob()
  const text = await response.text()
  if (text === '') return undefined
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return isJson ? JSON.parse(text) : text
}

function formOf(members: Given): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(members)) {
    if (value instanceof Blob) form.append(name, value)
    else if (value !== undefined) form.append(name, textOf(value))
  }
  return form
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new TypeError(`a text, a number or a flag is expected: ${JSON.stringify(value)}`)
}
