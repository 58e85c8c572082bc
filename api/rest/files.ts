/** Answers that are files: what a browser may do with them, and what it has of them already (`rest-api.md` 14.3). */
import { stringifyJson, type JsonValue } from '../../model/json.ts'
import type { HeldBytes } from '../../services/content/file-room.ts'
import { rawAnswer } from './declared/declare.ts'
import { attachment } from './form.ts'
import type { Answer } from './route.ts'

export interface FileAnswer {
  readonly contentType: string
  readonly etag: string
  /** Asked for where the client has not got it. */
  readonly read: () => Promise<HeldBytes>
  /** To be saved under this name, in the place of shown. */
  readonly fileName?: string | undefined
}

/**
 * People upload these: opened on their own, a picture with a script in it must be a picture. `sandbox` gives it an origin of its own, and
 * nothing is loaded.
 */
const HARMLESS = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
  'X-Content-Type-Options': 'nosniff',
} as const

/** 304 where `ifNoneMatch` names what is there. */
export async function fileAnswer(
  ifNoneMatch: string,
  { contentType, etag, read, fileName }: FileAnswer,
): Promise<Answer> {
  const headers = { ETag: `"${etag}"`, 'Cache-Control': 'no-cache', ...HARMLESS }
  if (isAlreadyHeld(ifNoneMatch, etag)) return rawAnswer({ status: 304, contentType: undefined, body: '', headers })
  const named = fileName === undefined ? {} : attachment(fileName)
  return rawAnswer({ status: 200, contentType, body: '', ...(await read()), headers: { ...headers, ...named } })
}

/** A value with the bytes of a file in it, which hold their room until it has left. */
export function jsonWithBytes(value: JsonValue, release: HeldBytes['release']): Answer {
  const bytes = Buffer.from(stringifyJson(value))
  return rawAnswer({ status: 200, contentType: 'application/json', body: '', bytes, release })
}

/** Whether `If-None-Match` names the content of that tag; `*` names any that is there (RFC 9110, 13.1.2). */
export function isAlreadyHeld(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '').replaceAll('"', '') === etag)
}
