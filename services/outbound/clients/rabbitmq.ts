/** RabbitMQ over the client of the field: one connection a node, made anew by the next call when it was lost. */
import { connect, type Channel, type ChannelModel } from 'amqplib'
import type { RabbitMessage, RabbitTarget } from '../../../engine/rulechain/capabilities/outbound.ts'
import type { ClientParts, OpenClient } from '../raw-client.ts'
import { withExpectedFrames } from './rabbitmq-frames.ts'

/** Where the node sets no bound. */
const CONNECT_MS = 60_000
/** A connection whose broker is gone without a word is given up after two of these. */
const HEARTBEAT_S = 30
/** A broker that does not answer to the end is not waited for any longer. */
const CLOSE_MS = 2000

interface Opened {
  readonly connection: ChannelModel
  readonly channel: Channel
}

export const openRabbitMq: OpenClient<'rabbitmq'> = async (target, parts) => {
  let opening: Promise<Opened> | undefined
  const opened = (): Promise<Opened> => {
    if (opening !== undefined) return opening
    // The end of a connection comes behind that of its channel: another may have its place by then.
    const lost = (): void => {
      if (opening === own) opening = undefined
    }
    const own = openedTo(target, parts, lost).catch((error: unknown) => {
      lost()
      throw error
    })
    opening = own
    return own
  }
  await opened()
  return {
    call: async (message, signal) => {
      const { channel } = await opened()
      // Nobody waits for it any more.
      if (!signal.aborted) await published(channel, message, signal)
    },
    close: async () => {
      const connection = await opening?.then(
        (open) => open.connection,
        () => undefined,
      )
      if (connection === undefined) return
      // In order: what was just published is still on its way.
      const closed = connection.close().catch(() => undefined)
      await Promise.race([closed, new Promise<void>((resolve) => parts.clock.after(CLOSE_MS, resolve))])
    },
  }
}

async function openedTo(target: RabbitTarget, { guard }: ClientParts, lost: () => void): Promise<Opened> {
  const { host, port, virtualHost, username, password, connectTimeoutMs, clientProperties } = target
  guard.checkLiteral(host)
  const broker = { hostname: host, port, username, password, heartbeat: HEARTBEAT_S }
  const connection = await withExpectedFrames(() =>
    connect(
      { ...broker, vhost: encodeURIComponent(virtualHost) },
      { lookup: guard.lookup, timeout: connectTimeoutMs || CONNECT_MS, noDelay: true, clientProperties },
    ),
  )
  // An error that nobody hears ends the process; the end of connection or channel follows it.
  connection.on('error', () => undefined).on('close', lost)
  try {
    const channel = await connection.createChannel()
    channel
      .on('error', () => undefined)
      .on('close', () => {
        // Such as by an exchange that is not there: the next call begins anew.
        lost()
        connection.close().catch(() => undefined)
      })
    return { connection, channel }
  } catch (error) {
    connection.close().catch(() => undefined)
    throw error
  }
}

/** Resolves when the socket has room for more: a broker that reads slowly slows the node. */
async function published(channel: Channel, message: RabbitMessage, signal: AbortSignal): Promise<void> {
  const { exchange, routingKey, body, contentType, priority, deliveryMode } = message
  const hasRoom = channel.publish(exchange, routingKey, Buffer.from(body), {
    ...(contentType === undefined ? {} : { contentType }),
    ...(priority === undefined ? {} : { priority }),
    ...(deliveryMode === undefined ? {} : { deliveryMode }),
  })
  if (hasRoom) return
  await new Promise<void>((resolve) => {
    const go = (): void => {
      channel.off('drain', go).off('close', go)
      signal.removeEventListener('abort', go)
      resolve()
    }
    channel.once('drain', go).once('close', go)
    signal.addEventListener('abort', go, { once: true })
  })
}
