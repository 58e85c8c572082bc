/** MQTT over the client of the field, which keeps one connection a node and renews it. */
import { connect as netConnect, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { isIP } from 'node:net'
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt'
import type { MqttPublication, MqttTarget } from '../../../engine/rulechain/capabilities/outbound.ts'
import { OutboundErrors } from '../errors.ts'
import type { ClientParts, OpenClient } from '../raw-client.ts'
import { tlsOptions } from './http.ts'
import { withExpectedPackets } from './mqtt-packets.ts'

const RECONNECT_MS = 1000

export const openMqtt: OpenClient<'mqtt'> = async (target, parts) => {
  const client = await connected(target, parts)
  const unconfirmed = new Set<() => void>()
  return {
    call: (publication, signal) => published(client, unconfirmed, publication, signal),
    close: async () => {
      // The client tells nobody of them, and knows nothing of them afterwards: whoever asks it then ends the process.
      for (const giveUp of unconfirmed) giveUp()
      await client.endAsync(true)
    },
  }
}

function connected(target: MqttTarget, parts: ClientParts): Promise<MqttClient> {
  const { version, clientId, cleanSession, connectTimeoutMs, username, password } = target
  parts.guard.checkLiteral(target.host)
  const options: IClientOptions = {
    ...{ protocolVersion: version, clientId, clean: cleanSession, connectTimeout: connectTimeoutMs },
    ...(version === 3 ? { protocolId: 'MQIsdp' } : {}),
    ...(username === undefined ? {} : { username }),
    reconnectPeriod: RECONNECT_MS,
    // What the broker did not confirm fails, and the message's queue tries again: nothing is kept in memory for later.
    queueQoSZero: false,
    resubscribe: false,
  }
  return new Promise((resolve, reject) => {
    const client = new mqtt.MqttClient((each) => {
      if (password !== undefined) each.options.password = password(parts.clock.now())
      return withExpectedPackets(socketTo(target, parts))
    }, options)
    // For good: a broker can cause several errors at a time, and one that nobody hears ends the process.
    client.on('error', () => undefined)
    const refused = (error?: Error): void => {
      client.end(true)
      reject(error ?? OutboundErrors.CLOSED())
    }
    const closed = (): void => refused()
    client.once('error', refused).once('close', closed)
    client.once('connect', () => {
      client.off('error', refused).off('close', closed)
      // A lost connection is renewed; calls meanwhile are told.
      resolve(client)
    })
  })
}

function published(
  client: MqttClient,
  unconfirmed: Set<() => void>,
  { topic, payload, retain }: MqttPublication,
  signal: AbortSignal,
): Promise<void> {
  if (!client.connected) throw OutboundErrors.CLOSED()
  return new Promise((resolve, reject) => {
    // The client would keep what is not confirmed, and send it when nobody waits for it any more.
    const forget = (): void => {
      client.removeOutgoingMessage(id)
      // A broker that reads nothing would have all of them lie in front of it.
      if (client.stream.writableLength > 0) client.stream.destroy()
    }
    const ended = (error: Error | undefined): void => {
      signal.removeEventListener('abort', forget)
      unconfirmed.delete(giveUp)
      if (error) reject(error)
      else resolve()
    }
    const giveUp = (): void => ended(OutboundErrors.CLOSED())
    unconfirmed.add(giveUp)
    client.publish(topic, payload, { qos: 1, retain }, ended)
    const id = client.getLastMessageId()
    signal.addEventListener('abort', forget, { once: true })
  })
}

function socketTo({ host, port, tls, certificates }: MqttTarget, { guard }: ClientParts): Socket {
  const address = { host, port, lookup: guard.lookup }
  if (!tls) return netConnect(address)
  return tlsConnect({ ...address, ...(isIP(host) === 0 ? { servername: host } : {}), ...tlsOptions(certificates) })
}
