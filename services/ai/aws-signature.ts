/**
 * Signs one request for a service of Amazon (Signature Version 4). Its libraries would bring clients of their own past our guard and bounds, and a
 * signature is four hashes. Source: "Create a signed AWS API request" of the IAM User Guide.
 */
import { createHash, createHmac } from 'node:crypto'

export interface SignedAccount {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly region: string
  /** As Amazon signs for it, such as `bedrock`. */
  readonly service: string
}

export interface UnsignedRequest {
  readonly method: string
  /** Its path encoded once, as it is sent. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The headers with those of the signature. `now`: Unix ms. */
export function signedHeaders(account: SignedAccount, request: UnsignedRequest, now: number): Record<string, string> {
  const { accessKeyId, secretAccessKey, region, service } = account
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
  const day = time.slice(0, 8)
  const url = new URL(request.url)
  const sent = { ...request.headers, 'X-Amz-Date': time }
  const signed = Object.entries({ ...sent, Host: url.host })
    .map(([name, value]) => [name.toLowerCase(), value.trim()] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const names = signed.map(([name]) => name).join(';')
  const canonical = [
    request.method,
    // Each part once more: only S3 takes them as they are sent.
    url.pathname.split('/').map(encoded).join('/'),
    url.search.slice(1),
    ...signed.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    sha256(request.body),
  ].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`)
  const signature = hmac(key, text).toString('hex')
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`
  return { ...sent, Authorization: authorization }
}

/** RFC 3986: a few more than the platform's own. */
export function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
