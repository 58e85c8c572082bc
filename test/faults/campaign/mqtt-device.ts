/** A device with several QoS 1 publishes in flight. It never publishes a value a second time: what has no PUBACK stays unknown. */
import { connect, type MqttClient } from 'mqtt'
import { setTimeout as delay } from 'node:timers/promises'
import { bodyOf, type SentValue } from './journal.ts'
import { PACE_MS, PATIENCE_MS, PAUSE_MS, type Sending } from './steady-load.ts'

const MAX_IN_FLIGHT = 8
const LARGEST_BURST = 4
/** CONNACK codes that call a device's credentials wrong: MQTT 3.1.1 and MQTT 5. */
const CALLED_WRONG = new Set([4, 5, 0x86, 0x87])

export async function sendOverMqtt(sending: Sending): Promise<void> {
  while (!sending.stop.aborted) {
    const client = await open(sending)
    if (client !== undefined) await new Session(sending, client).run()
    if (sending.stop.aborted) return
    sending.move()
    await delay(PAUSE_MS)
  }
}

/** A connected client, or undefined when there is none to be had at this transport now. */
async function open({ transport, journal }: Sending): Promise<MqttClient | undefined> {
  const client = connect({
    host: '127.0.0.1',
    port: transport().mqttPort,
    username: journal.device.token,
    protocolVersion: journal.device.protocol === 'MQTT 5' ? 5 : 4,
    reconnectPeriod: 0,
    connectTimeout: PATIENCE_MS,
  })
  const isOpen = await new Promise<boolean>((resolve) => {
    client.once('connect', () => resolve(true))
    client.once('close', () => resolve(false))
    client.on('error', (error) => {
      const code = 'code' in error ? error.code : undefined
      if (typeof code === 'number' && CALLED_WRONG.has(code)) {
        journal.complain(`its credentials were called wrong (CONNACK ${code})`)
      }
      resolve(false)
    })
  })
  if (isOpen) return client
  client.end(true)
  return undefined
}

/** What one connection carries, until it dies, falls silent, or the load ends with nothing in flight. */
class Session {
  readonly #sending: Sending
  readonly #client: MqttClient
  readonly #inFlight = new Set<SentValue>()
  #over = false

  constructor(sending: Sending, client: MqttClient) {
    this.#sending = sending
    this.#client = client
    client.on('close', () => (this.#over = true))
  }

  async run(): Promise<void> {
    while (!this.#over && !this.#isSilent()) {
      if (!this.#sending.stop.aborted) this.#burst()
      else if (this.#inFlight.size === 0) break
      await delay(PACE_MS)
    }
    this.#over = true // What is answered from here on comes too late to count.
    this.#client.end(true)
  }

  #isSilent(): boolean {
    const [oldest] = this.#inFlight
    return oldest !== undefined && performance.now() - oldest.sentAt > PATIENCE_MS
  }

  #burst(): void {
    const { journal, random } = this.#sending
    for (let left = random.between(1, LARGEST_BURST); left > 0 && this.#inFlight.size < MAX_IN_FLIGHT; left--) {
      const value = journal.take()
      this.#inFlight.add(value)
      const body = bodyOf(journal.device, value.value)
      this.#client.publish('v1/devices/me/telemetry', body, { qos: 1 }, (error) => {
        if (this.#over) return
        this.#inFlight.delete(value)
        if (error === undefined || error === null) journal.acknowledge(value)
        else if ('code' in error && typeof error.code === 'number' && error.code >= 0x80) value.outcome = 'refused'
        else this.#over = true
      })
    }
  }
}
