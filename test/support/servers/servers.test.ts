import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { connect } from '@nats-io/transport-node'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import pg from 'pg'
import {
  requireOwnServer,
  startNats,
  startNatsCluster,
  startPostgres,
  startQuestDb,
  type RunningServer,
} from './index.ts'
import { isAlive } from './server-process.ts'

test('NATS keeps its streams over a kill, and its folder goes with it', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const server = await startNats()
  context.after(() => server.stop())
  const first = await connect({ servers: server.url, reconnect: false })
  await (await jetstreamManager(first)).streams.add({ name: 'kept', subjects: ['kept.>'] })
  await jetstream(first).publish('kept.one', 'first')

  const before = server.pid
  await server.kill()
  assert.equal(isAlive(before), false)
  await first.closed()
  await server.restart()
  assert.notEqual(server.pid, before)
  const second = await connect({ servers: server.url })
  const { state } = await (await jetstreamManager(second)).streams.info('kept')
  await second.close()
  assert.equal(state.messages, 1)

  const { dataDir } = server
  assert.ok(existsSync(dataDir))
  await server.stop()
  assert.equal(existsSync(dataDir), false)
})

test('a cluster of three NATS servers stores with three replicas and goes on without one', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const cluster = await startNatsCluster(3)
  context.after(() => cluster.stop())
  const connection = await connect({ servers: cluster.url.split(','), reconnectTimeWait: 50 })
  context.after(() => connection.close())
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: 'kept', subjects: ['kept.>'], num_replicas: 3 })
  const leader = (await manager.streams.info('kept')).cluster?.leader
  const node = cluster.nodes[Number(leader?.slice(1)) - 1]
  assert.ok(node !== undefined, `leader ${leader}`)

  await node.kill()
  const answer = await jetstream(connection).publish('kept.one', 'first', { retries: 20, timeout: 2_000 })
  assert.equal(answer.seq, 1)
})

test('PostgreSQL keeps what it committed over a kill', async (context) => {
  if (!requireOwnServer(context, 'postgres')) return
  const server = await startPostgres()
  context.after(() => server.stop())
  await ask(server.url, 'create table kept (value int)')
  await ask(server.url, 'insert into kept values (41)')
  assert.equal((await ask(server.url, 'show fsync'))[0]?.['fsync'], 'on')
  await server.kill()
  await assert.rejects(ask(server.url, 'select 1'), { code: 'ECONNREFUSED' })
  await server.restart()
  assert.deepEqual(await ask(server.url, 'select value from kept'), [{ value: 41 }])
})

test('a paused PostgreSQL does not answer on an open connection until it is resumed', async (context) => {
  if (!requireOwnServer(context, 'postgres')) return
  const server = await startPostgres()
  context.after(() => server.stop())
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  server.pause()
  let answered = false
  const answer = client.query('select 1').then(() => (answered = true))
  await new Promise((wait) => setTimeout(wait, 300)) // The time in which a server that was not paused answers by far.
  assert.equal(answered, false)
  server.resume()
  await answer
  await client.end()
})

test('QuestDB answers over HTTP and keeps its rows over a kill', async (context) => {
  if (!requireOwnServer(context, 'questdb')) return
  const server = await startQuestDb()
  context.after(() => server.stop())
  await questDb(server, 'create table kept (value int, ts timestamp) timestamp(ts) partition by day wal')
  await questDb(server, "insert into kept values (41, '2026-01-01T00:00:00Z')")
  await server.kill()
  await server.restart()
  for (;;) {
    // The write-ahead log is applied in the background.
    const answer = await questDb(server, 'select value from kept')
    if (answer.dataset.length > 0) return assert.deepEqual(answer.dataset, [[41]])
    await new Promise((wait) => setTimeout(wait, 20))
  }
})

test('a server does not outlive the process that started it, even one that is killed', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const script = `
    import { startNats } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)}
    const server = await startNats()
    console.log(JSON.stringify({ pid: server.pid, dataDir: server.dataDir }))
    setInterval(() => undefined, 1000)`
  const owner = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface({ input: owner.stdout }), 'line')) as [string]
  const { pid, dataDir } = JSON.parse(line) as { pid: number; dataDir: string }
  owner.kill('SIGKILL')
  while (existsSync(dataDir)) await new Promise((wait) => setTimeout(wait, 20))
  assert.equal(isAlive(pid), false)
})

async function ask(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement)
    return rows
  } finally {
    await client.end()
  }
}

async function questDb(server: RunningServer, statement: string): Promise<{ dataset: unknown[][] }> {
  const answer = await fetch(`${server.url}/exec?query=${encodeURIComponent(statement)}`)
  const body = (await answer.json()) as { dataset?: unknown[][]; error?: string }
  assert.equal(answer.status, 200, body.error)
  return { dataset: body.dataset ?? [] }
}
