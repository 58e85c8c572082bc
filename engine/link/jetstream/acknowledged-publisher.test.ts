import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { JetStreamApiError, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { systemClock } from '../../../model/system-clock.ts'
import { requireServer, startNats } from '../../../test/support/servers/index.ts'
import { AcknowledgedPublisher } from './acknowledged-publisher.ts'

const BODY = new Uint8Array([1, 2, 3])

async function opened(context: TestContext) {
  const nats = await startNats()
  const connection = await connect({ servers: nats.url })
  context.after(async () => {
    await connection.close()
    await nats.stop()
  })
  return { connection, publisher: new AcknowledgedPublisher(connection, systemClock) }
}

test('issue-8 4: a publish answers its position, the same for the same id, and rejects with the server’s code', async (context) => {
  if (!requireServer(context, 'nats')) return
  const { connection, publisher } = await opened(context)
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: 'acknowledged', subjects: ['acknowledged'] })
  const publish = (id: string, stream = 'acknowledged') =>
    publisher.publish('acknowledged', BODY, { 'Nats-Msg-Id': id, 'Nats-Expected-Stream': stream }, 60_000)
  assert.deepEqual(await Promise.all([publish('a'), publish('b'), publish('a')]), [1, 2, 1])
  await assert.rejects(publish('c', 'another'), (error) => error instanceof JetStreamApiError && error.code === 10_060)
  assert.equal(await publish('d'), 3)
})

test('issue-8 4: a publish that nobody takes, or answers, or that is open at the close, rejects', async (context) => {
  if (!requireServer(context, 'nats')) return
  const { connection, publisher } = await opened(context)
  await assert.rejects(publisher.publish('nobody', BODY, {}, 60_000), /no stream takes it/)
  const heard: Uint8Array[] = []
  connection.subscribe('silent', { callback: (_, { data }) => void heard.push(data) })
  await assert.rejects(publisher.publish('silent', BODY, {}, 50), /no answer within 50 ms/)
  const open = publisher.publish('silent', BODY, {}, 60_000)
  publisher.close()
  await assert.rejects(open, /the link is closed/)
  await assert.rejects(async () => {
    const other = new AcknowledgedPublisher(connection, systemClock)
    connection.subscribe('odd', { callback: (_, message) => void message.respond('{}') })
    await other.publish('odd', BODY, {}, 60_000)
  }, /an answer without a position/)
  assert.deepEqual([...(heard[0] ?? [])], [...BODY])
})
