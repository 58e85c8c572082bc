/** GETs over one kept connection: `fetch` alone adds milliseconds to a p99, by its own garbage. */
import { once } from 'node:events'
import { connect } from 'node:net'

const HEAD_END = '\r\n\r\n'

export interface LeanClient {
  /** Resolves when the whole answer is here. Throws where it is not 200 or has no length. One call at a time. */
  get(path: string): Promise<void>
  close(): void
}

export async function connectLean(url: string, token: string): Promise<LeanClient> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.setNoDelay(true)
  let answered: PromiseWithResolvers<void> | undefined
  let head = ''
  /** Of the body, still to come; below 0 while the head is not whole. */
  let missing = -1
  const failed = (error: Error): void => answered?.reject(error)
  socket.on('error', failed).on('close', () => failed(new Error('the server closed the connection')))
  socket.on('data', (bytes) => {
    if (missing < 0) {
      head += bytes.toString('latin1')
      const end = head.indexOf(HEAD_END)
      if (end < 0) return
      const length = /^content-length: (\d+)/im.exec(head.slice(0, end))?.[1]
      if (!head.startsWith('HTTP/1.1 200 ') || length === undefined) return failed(new Error(head.slice(0, 500)))
      missing = Number(length) - (head.length - end - HEAD_END.length)
    } else {
      missing -= bytes.length
    }
    if (missing === 0) answered?.resolve()
  })
  return {
    get(path) {
      answered = Promise.withResolvers()
      head = ''
      missing = -1
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nX-Authorization: Bearer ${token}\r\n\r\n`)
      return answered.promise
    },
    close: () => socket.destroy(),
  }
}
