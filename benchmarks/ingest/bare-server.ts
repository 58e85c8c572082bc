/**
 * The limit beside the ingest figures: the same HTTP server and the same MQTT codec and socket handling, answering every request
 * at once without decoding, logging or storing anything. Prints its ports as one line of JSON.
 */
import { createServer } from 'node:net'
import { generate, parser } from 'mqtt-packet'
import { UwsServer } from '../../server/uws.ts'

const http = new UwsServer({
  maxBodyBytes: 65_536,
  drainTimeoutMs: 100,
  onHandlerError: (error) => {
    throw error
  },
})
http.route('POST', '/api/v1/:token/telemetry', (_request, reply) => reply.send(200, undefined, ''))

const CONNACK = generate({ cmd: 'connack', returnCode: 0, sessionPresent: false })
const mqtt = createServer({ noDelay: true }, (socket) => {
  const answers: Buffer[] = []
  const packets = parser({ protocolVersion: 4 })
  packets.on('packet', (packet) => {
    if (packet.cmd === 'connect') answers.push(CONNACK)
    else if (packet.cmd === 'publish')
      answers.push(Buffer.from([0x40, 2, (packet.messageId ?? 0) >> 8, (packet.messageId ?? 0) & 255]))
  })
  socket.on('data', (data) => {
    packets.parse(data)
    if (answers.length > 0) socket.write(Buffer.concat(answers.splice(0)))
  })
  socket.on('error', () => socket.destroy())
})

const httpPort = await http.listen('127.0.0.1', 0)
await new Promise<void>((resolve) => mqtt.listen(0, '127.0.0.1', resolve))
const address = mqtt.address()
process.stdout.write(`${JSON.stringify({ http: httpPort, mqtt: typeof address === 'object' ? address?.port : 0 })}\n`)
