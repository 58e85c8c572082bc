/**
 * HTTP load of many devices over few sockets: each request comes from the next device, so all of them are heard in turns.
 * Arguments as JSON in argv[2]; prints one line of JSON.
 */
import { connect } from 'node:net'

export interface SpreadOptions {
  readonly port: number
  readonly prefix: string
  readonly devices: number
  readonly sockets: number
  /** Ends after so many messages. */
  readonly messages: number
}

export interface SpreadResult {
  readonly acknowledged: number
  /** Answered 503, as the server had no room, and sent again. */
  readonly heldUp: number
  readonly failed: number
  readonly seconds: number
}

/** Before a message that found no room is sent again. */
const PAUSE_MS = 50

async function run({ port, prefix, devices, sockets, messages }: SpreadOptions): Promise<SpreadResult> {
  let next = 0
  let acknowledged = 0
  let heldUp = 0
  let failed = 0
  const began = performance.now()
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      let number = 0
      const send = (): void => {
        number = next++
        if (number < messages) return post()
        socket.destroy()
        resolve()
      }
      const post = (): void => {
        const ts = 1_700_000_000_000 + number
        const body = `{"ts":${ts},"values":{"temperature":${(number % 400) / 10},"humidity":${number % 100},"pressure":${1000 + (number % 50)}}}`
        socket.write(
          `POST /api/v1/${prefix}${number % devices}/telemetry HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        )
      }
      socket.on('connect', send)
      socket.on('error', reject)
      socket.on('data', (data) => {
        if (data.includes(' 503 ')) {
          heldUp++
          setTimeout(post, PAUSE_MS)
          return
        }
        if (data.includes(' 200 ')) acknowledged++
        else if (failed++ === 0) process.stderr.write(`a request failed: ${data.toString().slice(0, 500)}\n`)
        send()
      })
    })
  await Promise.all(Array.from({ length: sockets }, one))
  return { acknowledged, heldUp, failed, seconds: (performance.now() - began) / 1000 }
}

process.stdout.write(`${JSON.stringify(await run(JSON.parse(process.argv[2] ?? '{}') as SpreadOptions))}\n`)
