/**
 * Ends a connection on which a broker sends what nobody asked for. Who only publishes hears confirmations: a packet that is longer, or a message,
 * which the client would gather in memory whatever its size, is an error of the broker (MQTT 3.1.1, sections 2.2 and 2.2.3).
 */
import type { Socket } from 'node:net'
import { OutboundErrors } from '../errors.ts'

/** Confirmations have some bytes, and properties of MQTT 5. */
const LONGEST_PACKET = 64 * 1024
/** CONNACK, PUBACK, PINGRESP, DISCONNECT. */
const EXPECTED: ReadonlySet<number> = new Set([2, 4, 13, 14])

export function withExpectedPackets(socket: Socket): Socket {
  const check = packetCheck()
  socket.on('data', (chunk: Buffer) => {
    const reason = check(chunk)
    if (reason !== undefined) socket.destroy(OutboundErrors.CALL_FAILED({ reason }))
  })
  return socket
}

/** Follows the packets through the chunks they come in; answers what is wrong with one. */
export function packetCheck(): (chunk: Uint8Array) => string | undefined {
  let [isHeader, length, place, left] = [true, 0, 0, 0]
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      if (left > 0) {
        const skipped = Math.min(left, chunk.length - at)
        left -= skipped
        at += skipped
        continue
      }
      const byte = chunk[at++] ?? 0
      if (isHeader) {
        if (!EXPECTED.has(byte >> 4)) return `the broker sends a packet of type ${byte >> 4}, which nobody asked for`
        ;[isHeader, length, place] = [false, 0, 0]
        continue
      }
      length += (byte & 127) * 128 ** place++
      if (length > LONGEST_PACKET || place > 4) return `the broker sends a packet of more than ${LONGEST_PACKET} bytes`
      if (byte < 128) [isHeader, left] = [true, length]
    }
    return undefined
  }
}
