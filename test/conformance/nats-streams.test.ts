/** The script that restores streams, where the machine gives it no time for longer than the server waits. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connectNats } from '../../engine/cluster/nats-connection.ts'
import { systemClock } from '../../model/system-clock.ts'
import { PROJECT_ROOT } from '../support/start-millrace.ts'
import { requireOwnServer, startNats } from '../support/servers/index.ts'

const STREAM = 'millrace_S0'
const MESSAGES = 300
/** The server gives a restore up after five. */
const STANDS_STILL_MS = 7_000

test('a restore that the server gave up, for it heard nothing for too long, begins anew', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const nats = await startNats()
  const folder = await mkdtemp(join(tmpdir(), 'millrace-nats-streams-'))
  const line = await connectNats({ servers: nats.url, name: 'test', clock: systemClock })
  context.after(async () => {
    await line.close()
    await nats.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const { streams } = await jetstreamManager(line.connection)
  await streams.add({ name: STREAM, subjects: ['any'] })
  // More than the connection takes at once: the script still sends when it is stopped.
  for (let index = 0; index < MESSAGES; index++) await jetstream(line.connection).publish('any', randomBytes(100_000))
  const start = (action: string) => {
    const environment = { ...process.env, NATS_URL: nats.url, NATS_PREFIX: 'millrace' }
    const script = join(PROJECT_ROOT, 'scripts', 'nats-streams.ts')
    const child = spawn(process.execPath, [script, action, folder], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (said += bytes.toString()))
    return { child, ended: once(child, 'close'), said: () => said }
  }
  const backup = start('backup')
  assert.equal((await backup.ended)[0], 0, backup.said())
  await streams.delete(STREAM)

  const restore = start('restore')
  context.after(() => restore.child.kill('SIGKILL'))
  line.connection.subscribe('$JS.SNAPSHOT.RESTORE.>', {
    max: 1,
    callback: () => {
      restore.child.kill('SIGSTOP')
      setTimeout(() => restore.child.kill('SIGCONT'), STANDS_STILL_MS)
    },
  })
  assert.equal((await restore.ended)[0], 0, restore.said())
  assert.match(restore.said(), /begins anew/)
  assert.equal((await streams.info(STREAM)).state.messages, MESSAGES)
})
