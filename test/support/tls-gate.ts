/** What stands before a server that has no TLS of its own: ends TLS, and may want a token in the place of the login that the server knows. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { CertificateFiles } from './certificates.ts'

export interface TlsGateOptions extends CertificateFiles {
  /** `http://host:port` of the server behind it, with the login that it gives there for the bearers of the token. */
  readonly target: string
  /** Asked of everybody; without it their own login goes through. */
  readonly token?: string
}

/** Closed with the test. Resolves with its port. */
export async function startTlsGate(context: Pick<TestContext, 'after'>, options: TlsGateOptions): Promise<number> {
  const { certFile, keyFile, target, token } = options
  const { hostname, port, username, password } = new URL(target)
  const login = `Basic ${Buffer.from(decodeURIComponent(`${username}:${password}`)).toString('base64')}`
  const server: Server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (asked, answer) => {
    const { headers, method, url: path } = asked
    if (token !== undefined && headers.authorization !== `Bearer ${token}`) {
      answer.writeHead(401).end('Unauthorized')
      return
    }
    const forwarded = token === undefined ? headers : { ...headers, authorization: login }
    const behind = request({ hostname, port, method, path, headers: forwarded }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(answer)
    })
    behind.on('error', () => answer.destroy())
    asked.pipe(behind)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
