/** Loads the native uWebSockets.js that the install step put in place; the part of its interface that `uws.ts` uses. */
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { defineErrors } from '../model/errors.ts'
import { UWS_FOLDER } from './uws-packages.ts'

export interface UwsRequest {
  /** The first of this name. */
  getHeader(lowerCaseName: string): string
  forEach(each: (lowerCaseName: string, value: string) => void): void
  getParameter(index: number): string | undefined
  getUrl(): string
  getCaseSensitiveMethod(): string
  /** Undefined where there is none. */
  getQuery(): string | undefined
}

export interface UwsResponse {
  writeStatus(status: string): UwsResponse
  writeHeader(name: string, value: string): UwsResponse
  end(body: string | Uint8Array, closeConnection?: boolean): UwsResponse
  /** Without a header that tells a length. */
  endWithoutBody(): UwsResponse
  /** Sends what the system takes of a body of `total` bytes, and keeps nothing of the rest. */
  tryEnd(rest: Uint8Array, total: number): [isTaken: boolean, isDone: boolean]
  /** `offset`: how much of the body was taken. */
  onWritable(handler: (offset: number) => boolean): UwsResponse
  onAborted(handler: () => void): UwsResponse
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse
  cork(run: () => void): UwsResponse
  pause(): void
  resume(): void
  getRemoteAddressAsText(): ArrayBuffer
  upgrade<Data>(data: Data, key: string, protocol: string, extensions: string, context: unknown): void
}

export interface UwsWebSocket<Data> {
  send(message: string, isBinary: boolean): number
  getBufferedAmount(): number
  end(code: number, reason: string): void
  ping(): number
  getUserData(): Data
}

export interface UwsBehavior<Data> {
  maxPayloadLength: number
  maxBackpressure: number
  idleTimeout: number
  sendPingsAutomatically: boolean
  upgrade(response: UwsResponse, request: UwsRequest, context: unknown): void
  open(socket: UwsWebSocket<Data>): void
  message(socket: UwsWebSocket<Data>, message: ArrayBuffer, isBinary: boolean): void
  drain(socket: UwsWebSocket<Data>): void
  close(socket: UwsWebSocket<Data>, code: number, reason: ArrayBuffer): void
  pong(socket: UwsWebSocket<Data>): void
}

export interface UwsApp {
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): UwsApp
  get: UwsApp['any']
  post: UwsApp['any']
  put: UwsApp['any']
  del: UwsApp['any']
  options: UwsApp['any']
  patch: UwsApp['any']
  head: UwsApp['any']
  ws<Data>(pattern: string, behavior: UwsBehavior<Data>): UwsApp
  listen(address: string, port: number, options: number, done: (socket: unknown) => void): UwsApp
  close(): UwsApp
  /** By which another app knows it. */
  getDescriptor(): unknown
  /** Connections that this app takes in go to such apps, in turn. */
  addChildAppDescriptor(app: unknown): UwsApp
  removeChildAppDescriptor(app: unknown): UwsApp
}

/** Paths of PEM files. */
export interface UwsTls {
  readonly key_file_name: string
  readonly cert_file_name: string
  readonly passphrase?: string
}

export interface UwsBinding {
  App(): UwsApp
  SSLApp(tls: UwsTls): UwsApp
  _cfg(key: string): void
  us_listen_socket_close(socket: unknown): void
  us_socket_local_port(socket: unknown): number
  LIBUS_LISTEN_EXCLUSIVE_PORT: number
}

const BindingErrors = defineErrors('server', {
  BINDING_MISSING: {
    kind: 'terminal',
    status: 500,
    text: 'uWebSockets.js is not installed ({reason}): run `npm install` in {root}',
  },
})

/** Leaves out the header with the library's name and version: it tells an attacker what to look for, and a client nothing. */
const WITHOUT_MARK = '999999990007'

/** Throws `BINDING_MISSING` with what to do. */
export function loadUws(): UwsBinding {
  const root = resolve(import.meta.dirname, '..')
  try {
    const binding = createRequire(import.meta.url)(join(root, UWS_FOLDER)) as UwsBinding
    binding._cfg(WITHOUT_MARK)
    return binding
  } catch (error) {
    throw BindingErrors.BINDING_MISSING({ reason: (error as Error).message.split('\n')[0], root }, error)
  }
}
