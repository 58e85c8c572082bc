/** Opens idle connections and holds them: `node hold.ts PORT COUNT mqtt|mqtts|bare TOKEN`. Prints `held` once all are up; ends with its input. */
import { connect } from 'node:net'
import { connect as connectOverTls } from 'node:tls'

const [port = '0', count = '0', kind = 'bare', token = ''] = process.argv.slice(2)
const CONNECTS_AT_ONCE = 200

function mqttText(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])
}

function connectPacket(index: number): Buffer {
  // Keep alive 0: an idle session sends nothing at all.
  const variable = Buffer.concat([
    Buffer.from([0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 0x82, 0, 0]),
    mqttText(`idle-${index}`),
    mqttText(`${token}${index}`),
  ])
  return Buffer.concat([Buffer.from([0x10, variable.length]), variable])
}

function open(index: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const at = { port: Number(port), host: '127.0.0.1', noDelay: true }
    const connected = (): void => {
      if (kind === 'bare') resolve()
      else socket.write(connectPacket(index))
    }
    // Whose certificate it is does not matter here.
    const socket =
      kind === 'mqtts' ? connectOverTls({ ...at, rejectUnauthorized: false }, connected) : connect(at, connected)
    socket.on('data', (data: Buffer) => (data[3] === 0 ? resolve() : reject(new Error(`CONNACK ${data[3]}`))))
    socket.on('error', reject)
  })
}

for (let first = 0; first < Number(count); first += CONNECTS_AT_ONCE) {
  const batch = Array.from({ length: Math.min(CONNECTS_AT_ONCE, Number(count) - first) }, (_, index) =>
    open(first + index),
  )
  await Promise.all(batch)
}
process.stdout.write('held\n')
process.stdin.resume().on('end', () => process.exit(0))
