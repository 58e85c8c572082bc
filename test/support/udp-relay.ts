/** A port of UDP that stays while the server behind it ends and comes again at another. */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'

const HOST = '127.0.0.1'

export interface UdpRelay {
  readonly port: number
  /** Whoever sends from now on reaches this one. */
  turnTo(port: number): void
  /** Idempotent. */
  close(): void
}

/** Each sender has an address of its own at the server, the same ever since. */
export async function startUdpRelay(serverPort: number): Promise<UdpRelay> {
  let target = serverPort
  const front = createSocket('udp4')
  const behind = new Map<string, Socket>()
  front.on('message', (data, { address, port }) => {
    const key = `${address}:${port}`
    let socket = behind.get(key)
    if (socket === undefined) {
      behind.set(key, (socket = createSocket('udp4')))
      socket.on('message', (answer) => front.send(answer, port, address))
      // Nobody is there at the moment: as a datagram that is lost.
      socket.on('error', () => undefined)
    }
    socket.send(data, target, HOST)
  })
  front.bind(0, HOST)
  await once(front, 'listening')
  let isOpen = true
  return {
    port: front.address().port,
    turnTo: (port) => void (target = port),
    close: () => {
      if (!isOpen) return
      isOpen = false
      for (const socket of [front, ...behind.values()]) socket.close()
    },
  }
}
