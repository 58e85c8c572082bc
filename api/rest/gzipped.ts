/** Answers that clients take packed: `rest-api.md` 14.1, RFC 9110 8.4.1 and 12.5.3. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Answer } from './route.ts'

const pack = promisify(gzip)
/** What fits one packet is not there sooner for being packed. */
const LEAST_CHARACTERS = 1_400
/** Syncs of the disk run on the same four threads: they wait behind no crowd of readers. */
const MAX_AT_ONCE = 2
let underWay = 0

/**
 * The answer, packed where the client's `Accept-Encoding` takes it so, and no others are being packed. Beside the event loop: a dashboard may
 * have megabytes.
 */
export async function gzipped(answer: Answer, acceptEncoding: string): Promise<Answer> {
  const headers = { ...answer.headers, Vary: 'Accept-Encoding' }
  const isSmall = answer.bytes !== undefined || answer.body.length < LEAST_CHARACTERS
  if (isSmall || underWay >= MAX_AT_ONCE || !takesGzip(acceptEncoding)) return { ...answer, headers }
  underWay++
  try {
    return { ...answer, bytes: await pack(answer.body), headers: { ...headers, 'Content-Encoding': 'gzip' } }
  } finally {
    underWay--
  }
}

/** Whether the value of `Accept-Encoding` takes gzip, by name or by `*`. */
export function takesGzip(acceptEncoding: string): boolean {
  let takesOthers = false
  for (const part of acceptEncoding.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((each) => each.trim())
    const weight = parameters.find((each) => each.startsWith('q='))?.slice(2)
    const isTaken = weight === undefined || Number(weight) > 0
    if (coding === 'gzip' || coding === 'x-gzip') return isTaken
    if (coding === '*') takesOthers = isTaken
  }
  return takesOthers
}
