/** The bare server beside CoAP and LwM2M: acknowledges each datagram at once and reads no more of it than its head. Prints its port as JSON. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'

const ACKNOWLEDGEMENT = 0x60
const POST = 0x02
const CREATED = 0x41

const socket = createSocket('udp4')
socket.on('message', (datagram, { port, address }) => {
  const tokenBytes = (datagram[0] ?? 0) & 0b1111
  const isRequest = datagram[1] === POST
  // A request is answered under its token, a notification acknowledged without one.
  const answer = isRequest ? Buffer.from(datagram.subarray(0, 4 + tokenBytes)) : Buffer.from(datagram.subarray(0, 4))
  answer[0] = ACKNOWLEDGEMENT | (isRequest ? tokenBytes : 0)
  answer[1] = isRequest ? CREATED : 0
  socket.send(answer, port, address)
})
socket.bind(0, '127.0.0.1')
await once(socket, 'listening')
process.stdout.write(`${JSON.stringify({ port: socket.address().port })}\n`)
