/** A request to a client, before it is put into a message. */
import type { OutgoingRequest } from '../coap-messages/message.ts'
import { pathText, type Path } from './codecs/records.ts'
import type { WrittenValue } from './formats.ts'

/** RFC 7252, 12.1.1; RFC 8132. */
export const Code = {
  GET: '0.01',
  POST: '0.02',
  PUT: '0.03',
  DELETE: '0.04',
  FETCH: '0.05',
  IPATCH: '0.07',
} as const

export interface Operation {
  readonly code: string
  readonly path: Path
  readonly query: readonly string[]
  /** 0 begins to observe, 1 ends it. */
  readonly observe?: 0 | 1
  /** Content-Format that the answer is to have. */
  readonly accept?: number
  readonly body?: { readonly format: number; readonly bytes: Buffer }
  /** Of a composite one: what it is for. */
  readonly paths?: readonly Path[]
  /** What the client has once it did so. */
  readonly written?: readonly WrittenValue[]
  /** The instance that it makes, where the client says no other. */
  readonly created?: Path
}

/** By what an observation is known: its path, or of a composite one all of them. */
export function observationKey({ path, paths }: Pick<Operation, 'path' | 'paths'>): string {
  return paths === undefined ? pathText(path) : `[${paths.map(pathText).toSorted().join(', ')}]`
}

/** As it is sent, below what stands before the client's paths. */
export function outgoing({ code, path, query, accept, body }: Operation, rootPath: string): OutgoingRequest {
  const before = rootPath.split('/').filter((segment) => segment !== '')
  return {
    ...{ code, path: [...before, ...path.map(String)], query, accept },
    ...{ contentFormat: body?.format, payload: body?.bytes },
  }
}
