/**
 * Reads of TCP sockets into one buffer for all of them. Node's stream makes 64 KiB for each read, shrinks them to what came, queues that and
 * takes it out again: a twentieth of the processor time of a message whose device waits for each answer. `net.connect` takes a buffer
 * (`onread`), a server's sockets do not; here it is switched on by names that Node does not document. `shared-reads.test.ts` fails with a
 * Node that has them no more.
 */
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'

/** As much as Node reads at once. */
const shared = Buffer.allocUnsafeSlow(64 << 10)

/**
 * Called before anything came. The socket emits 'data' as before, each time with bytes of its own. False where this Node has no such way:
 * then the socket is read as any.
 */
export function readShared(socket: Socket): boolean {
  const symbols = Object.getOwnPropertySymbols(socket)
  const buffer = symbols.find(({ description }) => description === 'kBuffer')
  const callback = symbols.find(({ description }) => description === 'kBufferCb')
  const handle: unknown = Reflect.get(socket, '_handle')
  if (buffer === undefined || callback === undefined || typeof handle !== 'object' || handle === null) return false
  if (!('useUserBuffer' in handle) || typeof handle.useUserBuffer !== 'function') return false
  Reflect.apply(handle.useUserBuffer, handle, [shared])
  Reflect.set(socket, buffer, shared)
  Reflect.set(socket, callback, came)
  // A socket's own stops reading at once where it has such a buffer: then nobody hears that the other end is gone.
  Reflect.set(socket, 'pause', Reflect.get(Readable.prototype, 'pause'))
  return true
}

/** False where it is to read no further for now. */
function came(this: Socket, length: number): boolean {
  const chunk = Buffer.allocUnsafe(length)
  shared.copy(chunk, 0, 0, length)
  // Paused, the stream keeps it, as it does for any socket.
  if (this.readableFlowing !== true || this.readableLength > 0) return this.push(chunk)
  this.emit('data', chunk)
  return true
}
