/** A mail server for tests: takes everything but mails to `refused@…`. */
import { createServer, type Socket } from 'node:net'

export interface TestMailServer {
  readonly port: number
  /** As they came, newest last. */
  readonly mails: readonly string[]
  close(): Promise<void>
}

/** `port`: that of a former one; a free one by default. */
export async function startTestMailServer(port = 0): Promise<TestMailServer> {
  const mails: string[] = []
  const server = createServer((socket) => serve(socket, mails))
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  // A test that is over does not wait for it.
  server.unref()
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the mail server has no port')
  return {
    port: address.port,
    mails,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function serve(socket: Socket, mails: string[]): void {
  let mail: string | undefined
  let rest = ''
  const answer = (text: string): void => void socket.write(`${text}\r\n`)
  answer('220 test')
  socket.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('utf8')).split('\r\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (mail !== undefined && line !== '.') mail += `${line}\r\n`
      else if (mail !== undefined) {
        mails.push(mail)
        mail = undefined
        answer('250 taken')
      } else if (/^DATA/i.test(line)) {
        mail = ''
        answer('354 go on')
      } else if (/^QUIT/i.test(line)) {
        answer('221 bye')
        socket.end()
      } else answer(/^RCPT TO:<refused@/i.test(line) ? '550 no such user' : '250 ok')
    }
  })
}
