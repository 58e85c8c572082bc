/** The limit beside the session figures: accepts connections and does nothing with them. Prints its port. */
import { createServer } from 'node:net'

const sockets = new Set<unknown>()
const server = createServer({ noDelay: true }, (socket) => {
  sockets.add(socket)
  socket.on('error', () => socket.destroy())
  socket.on('data', () => undefined)
})
server.listen(0, '127.0.0.1', 4096, () => {
  const address = server.address()
  process.stdout.write(`${typeof address === 'object' ? address?.port : 0}\n`)
})
