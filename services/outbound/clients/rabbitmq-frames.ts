/**
 * Ends a connection on which a broker sends what nobody asked for. Who only publishes hears methods and heartbeats: the client would gather a message in
 * memory whatever its size, and throws out of the socket's event where something comes behind the last greeting before anybody listens to it.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Socket } from 'node:net'
import { OutboundErrors } from '../errors.ts'

/** What brokers take for the longest frame unless they are told otherwise. */
const LONGEST_FRAME = 128 * 1024
const METHOD = 1
const HEARTBEAT = 8
/** `connection.open-ok`. */
const OPEN_OK = 0x000a0029
const NEW_SOCKETS = 'net.client.socket'
/** Before a frame's payload, and with the byte behind it. */
const HEAD = 7
const AROUND = 8

/** The client makes its socket at once in `connect`, and shows it to nobody before it is greeted. */
export function withExpectedFrames<Made>(connect: () => Made): Made {
  const guard = (made: unknown): void => {
    if (typeof made === 'object' && made !== null && 'socket' in made && made.socket instanceof Socket)
      guardFrames(made.socket)
  }
  subscribe(NEW_SOCKETS, guard)
  try {
    return connect()
  } finally {
    unsubscribe(NEW_SOCKETS, guard)
  }
}

/** What is thrown where the client reads is an error of the connection to it. */
function guardFrames(socket: Socket): void {
  const check = frameCheck()
  const emit: (event: string | symbol, ...values: readonly unknown[]) => boolean = socket.emit.bind(socket)
  const guardedEmit = (event: string | symbol, ...values: readonly unknown[]): boolean => {
    const [chunk] = values
    const reason = event === 'data' && chunk instanceof Uint8Array ? check(chunk) : undefined
    if (reason !== undefined) {
      // The client only ends its side, and never reads what is left.
      socket.destroy()
      throw OutboundErrors.CALL_FAILED({ reason })
    }
    return emit(event, ...values)
  }
  Object.defineProperty(socket, 'emit', { value: guardedEmit })
}

/** Follows the frames through the chunks they come in; answers what is wrong with one. */
export function frameCheck(): (chunk: Uint8Array) => string | undefined {
  let [place, type, length, method] = [0, 0, 0, 0]
  return (chunk) => {
    for (const [index, byte] of chunk.entries()) {
      if (place === 0) {
        if (byte !== METHOD && byte !== HEARTBEAT)
          return `the broker sends a frame of type ${byte}, which nobody asked for`
        ;[type, length, method] = [byte, 0, 0]
      } else if (place >= 3 && place < HEAD) length = length * 256 + byte
      else if (place >= HEAD && place < HEAD + 4 && type === METHOD) method = method * 256 + byte
      if (length > LONGEST_FRAME) return `the broker sends a frame of more than ${LONGEST_FRAME} bytes`
      if (++place < AROUND + (place < HEAD ? 0 : length)) continue
      place = 0
      if (method === OPEN_OK && index < chunk.length - 1) return 'the broker speaks before it is asked'
    }
    return undefined
  }
}
