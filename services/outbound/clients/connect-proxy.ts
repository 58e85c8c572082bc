/** A connection to a target that an HTTP proxy made (RFC 9110, section 9.3.6). */
import { request } from 'node:http'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { HttpProxy } from '../../../engine/rulechain/capabilities/outbound.ts'

/** `lookup` finds the proxy, in the place of the system's; the target is the proxy's to find. */
export function connectByProxy(
  { host, port, user, password }: HttpProxy,
  target: { readonly host: string; readonly port: number },
  signal: AbortSignal,
  lookup?: LookupFunction,
): Promise<Socket> {
  const path = `${isIP(target.host) === 6 ? `[${target.host}]` : target.host}:${target.port}`
  const login = Buffer.from(`${user ?? ''}:${password ?? ''}`).toString('base64')
  const headers = { Host: path, ...(user === undefined ? {} : { 'Proxy-Authorization': `Basic ${login}` }) }
  return new Promise((resolve, reject) => {
    const connecting = request({
      ...{ host, port, method: 'CONNECT', path, headers, signal, agent: false },
      ...(lookup === undefined ? {} : { lookup }),
    })
    connecting.on('connect', (response, socket, begun: Buffer) => {
      // Whoever takes it listens too; until then, and when nobody does, a reset is nobody's.
      socket.on('error', () => undefined)
      if (response.statusCode === 200) {
        // A mail server speaks first, maybe in one packet with the proxy's answer.
        if (begun.length > 0) socket.unshift(begun)
        return resolve(socket)
      }
      socket.destroy()
      reject(new Error(`the proxy answered ${response.statusCode ?? 0}`))
    })
    connecting.on('response', (response) => {
      response.destroy()
      reject(new Error(`the proxy answered ${response.statusCode ?? 0}`))
    })
    connecting.on('error', reject)
    connecting.end()
  })
}
