/**
 * Devices that behave badly, all at once, in a thread of their own: senders that never end what they begin, connections that say nothing,
 * rubbish, thousands of reconnects, clients that never read, and datagrams that ask for more than they are. Bounded, on loopback.
 */
import { createSocket } from 'node:dgram'
import { connect, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { generate } from 'mqtt-packet'
import { z } from 'zod'

const Ports = z.object({ http: z.number(), mqtt: z.number(), coap: z.number(), token: z.string() })
const target = Ports.parse(workerData)

const SLOW = 200
const SILENT = 300
const DEAF = 50
/** 10,000 a minute. */
const RECONNECTS_PER_SECOND = 167
const RUBBISH_PER_SECOND = 200
const DATAGRAMS_PER_SECOND = 1000
const TICK_MS = 50

const counts = { opened: 0, reconnects: 0, rubbish: 0, datagrams: 0, answeredBytes: 0, askedBytes: 0, pushedBytes: 0 }
const held = new Set<Socket>()

function open(port: number, onConnect: (socket: Socket) => void): Socket {
  const socket = connect(port, '127.0.0.1', () => onConnect(socket))
  held.add(socket)
  counts.opened++
  // To be cut off is what these are for.
  socket.on('error', () => socket.destroy())
  socket.on('close', () => held.delete(socket))
  return socket
}

const login = generate({
  ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clean: true, keepalive: 60 },
  ...{ clientId: 'hostile', username: target.token },
})
const HTTP_HEAD = `POST /api/v1/${target.token}/telemetry HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n`

/** A byte of a request at a time, and never the last. */
const slow: Socket[] = []
for (let index = 0; index < SLOW; index++)
  slow.push(
    open(index % 2 === 0 ? target.http : target.mqtt, (socket) => {
      if (index % 2 === 0) socket.write(HTTP_HEAD)
      else socket.write(login.subarray(0, 3))
    }),
  )
for (let index = 0; index < SILENT; index++) open(index % 2 === 0 ? target.http : target.mqtt, () => {})
/** Asks for attributes without end and reads no answer. */
const request = generate({
  ...{ cmd: 'publish', topic: 'v1/devices/me/attributes/request/1', payload: '{}', qos: 0, dup: false, retain: false },
})
const deaf: Socket[] = []
for (let index = 0; index < DEAF; index++)
  deaf.push(
    open(target.mqtt, (socket) => {
      socket.pause()
      socket.write(login)
    }),
  )

const datagrams = createSocket('udp4')
datagrams.on('message', (answer) => void (counts.answeredBytes += answer.length))
datagrams.bind(0, '127.0.0.1')
/** A GET of attributes with the token of nobody: 4.01 at the most. */
const asks = Buffer.concat([
  Buffer.from([0x41, 0x01, 0, 0, 1]),
  option(11, 'api'),
  option(0, 'v1'),
  option(0, 'NOBODY'),
  option(0, 'attributes'),
])

function option(delta: number, text: string): Buffer {
  return Buffer.concat([Buffer.from([(delta << 4) | text.length]), Buffer.from(text)])
}

let id = 0
const ticks = setInterval(() => {
  const share = TICK_MS / 1000
  for (const socket of slow) if (socket.writable) socket.write('a')
  for (const socket of deaf)
    if (socket.writable && socket.writableLength < 65_536) {
      for (let each = 0; each < 10; each++) socket.write(request)
      counts.pushedBytes += request.length * 10
    }
  for (let each = 0; each < RECONNECTS_PER_SECOND * share; each++) {
    counts.reconnects++
    open(target.mqtt, (socket) => {
      socket.write(login)
      socket.on('data', () => socket.destroy())
    })
  }
  for (let each = 0; each < RUBBISH_PER_SECOND * share; each++) {
    counts.rubbish++
    open(each % 2 === 0 ? target.mqtt : target.http, (socket) => {
      socket.write(Buffer.from(Array.from({ length: 64 }, (_, place) => (place * 37 + counts.rubbish * 11) & 0xff)))
      socket.resume()
    })
  }
  for (let each = 0; each < DATAGRAMS_PER_SECOND * share; each++) {
    asks.writeUInt16BE(++id & 0xffff, 2)
    counts.datagrams++
    counts.askedBytes += asks.length
    datagrams.send(Buffer.from(asks), target.coap, '127.0.0.1')
  }
}, TICK_MS)

parentPort?.once('message', () => {
  clearInterval(ticks)
  datagrams.close()
  for (const socket of held) socket.destroy()
  parentPort?.postMessage(counts)
})
