/** The configuration of the NATS nodes, run by three real ones: only the addresses of containers become those of this machine. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { requireOwnServer } from '../support/servers/index.ts'
import { greets, natsBinary } from '../support/servers/nats.ts'
import { freePorts } from '../support/servers/ports.ts'
import { runServer } from '../support/servers/running-server.ts'
import { PROJECT_ROOT } from '../support/start-millrace.ts'

/** All digits: unquoted, the configuration would take it for a number. */
const PASSWORD = '12345678901234567890'

test('three nodes with the deployed configuration take the password, store three replicas and answer the health check', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const { urls, monitors } = await startDeployedCluster(context)
  await assert.rejects(connect({ servers: urls, reconnect: false, maxReconnectAttempts: 0 }), /authorization/i)

  const connection = await connect({ servers: urls, user: 'millrace', pass: PASSWORD, timeout: 10_000 })
  context.after(() => connection.close())
  const manager = await eventually(() => jetstreamManager(connection))
  const stream = await eventually(() => manager.streams.add({ name: 'kept', subjects: ['kept.>'], num_replicas: 3 }))
  assert.equal(stream.config.num_replicas, 3)
  await jetstream(connection).publish('kept.one', 'first')
  for (const monitor of monitors) {
    const health = await fetch(`http://127.0.0.1:${monitor}/healthz?js-server-only=true`)
    assert.equal(health.status, 200)
    const settings = (await (await fetch(`http://127.0.0.1:${monitor}/jsz?config=true`)).json()) as {
      config: { sync_always?: boolean }
    }
    assert.equal(settings.config.sync_always, true)
  }
})

async function startDeployedCluster(context: TestContext): Promise<{ urls: string[]; monitors: number[] }> {
  const binary = await natsBinary()
  const deployed = await readFile(join(PROJECT_ROOT, 'deploy', 'nats.conf'), 'utf8')
  const ports = await freePorts(9)
  const [clients, routes, monitors] = [ports.slice(0, 3), ports.slice(3, 6), ports.slice(6, 9)]
  const addresses = routes.map((port) => `"nats://route:${PASSWORD}@127.0.0.1:${port}"`)
  const nodes = clients.map((port, index) =>
    runServer(
      {
        name: 'nats',
        portCount: 1,
        url: () => `nats://127.0.0.1:${port}`,
        answers: () => greets(port),
        prepare: async ({ work, data }) => {
          const own: Readonly<Record<string, string>> = {
            '"0.0.0.0:4222"': `"127.0.0.1:${port}"`,
            '"0.0.0.0:6222"': `"127.0.0.1:${routes[index]}"`,
            '"127.0.0.1:8222"': `"127.0.0.1:${monitors[index]}"`,
            '"/data"': `"${data}"`,
          }
          let text = deployed
          for (const [place, here] of Object.entries(own)) {
            assert.equal(text.split(place).length, 2, `${place} is not in nats.conf once`)
            text = text.replace(place, here)
          }
          await writeFile(join(work, 'nats.conf'), text)
          return {
            command: binary,
            parameters: ['--config', join(work, 'nats.conf')],
            // What docker-compose.yml gives to a node.
            environment: {
              NATS_SERVER_NAME: `nats-${index + 1}`,
              NATS_CLIENT_PASSWORD: `"${PASSWORD}"`,
              NATS_ROUTES: `[${addresses.join(', ')}]`,
            },
            endSignal: 'SIGTERM',
          }
        },
      },
      { ports: [port] },
    ),
  )
  for (const node of nodes) {
    const running = await node
    context.after(() => running.stop())
  }
  return { urls: clients.map((port) => `127.0.0.1:${port}`), monitors }
}

/** A cluster elects its leaders a moment after its nodes answer. */
async function eventually<Value>(ask: () => Promise<Value>): Promise<Value> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (tries === 600) throw error
      await new Promise((wait) => setTimeout(wait, 100))
    }
  }
}
