/** An HTTP proxy for tests: makes the connection that it is asked for, where the login is right. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'

export interface TestProxy {
  readonly port: number
  /** The targets of all requests. */
  readonly asked: readonly string[]
  close(): Promise<void>
}

/** What the target says first comes in one packet with the proxy's answer, as it may. */
export async function startTestProxy(login: string): Promise<TestProxy> {
  const asked: string[] = []
  const wanted = `Basic ${Buffer.from(login).toString('base64')}`
  const server = createServer().on('connect', ({ url = '', headers }, client: Socket) => {
    asked.push(url)
    client.on('error', () => undefined)
    if (headers['proxy-authorization'] !== wanted)
      return client.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n')
    const { hostname, port } = new URL(`http://${url}`)
    const target = connect(Number(port), hostname)
    target.on('error', () => client.destroy())
    target.once('data', (first) => {
      client.write(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), first]))
      target.pipe(client).pipe(target)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
