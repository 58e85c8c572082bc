/**
 * Subscribes at another MQTT broker (3.1.1). A PUBACK goes out when the message is stored, in the order in which the messages came
 * [MQTT-4.6.0-2]; one that could not be stored ends the connection, so that the broker sends it again.
 */
import type { TimerHandle } from '../../../model/clock.ts'
import { errorText } from '../../../model/errors.ts'
import type { Source, SourceParts } from '../define-integration.ts'
import { IntegrationErrors } from '../errors.ts'
import type { MqttSourceConfiguration } from './mqtt-configuration.ts'
import { MqttSession } from './mqtt-session.ts'
import { MqttSubscriptions } from './mqtt-subscriptions.ts'

type Parts = SourceParts<MqttSourceConfiguration>

const RETRY_MS = 1000
const LONGEST_RETRY_MS = 30_000

export async function openMqttSource(parts: Parts): Promise<Source> {
  const source = new MqttSource(parts, await MqttSubscriptions.open(parts.positions, parts.configuration))
  source.connect()
  return source
}

class MqttSource implements Source {
  private readonly parts: Parts
  private readonly subscriptions: MqttSubscriptions
  private session: MqttSession | undefined
  private retry: TimerHandle | undefined
  private retryMs = RETRY_MS
  private isClosed = false

  constructor(parts: Parts, subscriptions: MqttSubscriptions) {
    this.parts = parts
    this.subscriptions = subscriptions
  }

  connect(): void {
    this.session = new MqttSession(this.parts, this.subscriptions, {
      joined: () => {
        this.retryMs = RETRY_MS
        this.parts.connected(true)
      },
      ended: (reason) => {
        if (this.isClosed) return
        const { host, port } = this.parts.configuration
        this.parts.connected(false, IntegrationErrors.SOURCE({ source: `${host}:${port}`, reason: errorText(reason) }))
        this.retry = this.parts.clock.after(this.retryMs, () => this.connect())
        this.retryMs = Math.min(this.retryMs * 2, LONGEST_RETRY_MS)
      },
    })
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.retry?.cancel()
    await this.session?.close()
  }
}
