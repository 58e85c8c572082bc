import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { connect } from '@nats-io/transport-node'
import { SETTINGS } from '../config/settings.ts'
import { requireOwnServer } from '../test/support/servers/index.ts'

const SCRIPT = resolve(import.meta.dirname, 'services.ts')

test('services prints settings that exist, serves until it is interrupted, and keeps the data', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const folder = await mkdtemp(join(tmpdir(), 'millrace-services-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', SCRIPT, 'nats'], {
    env: { ...process.env, SERVICES_DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  context.after(() => child.kill('SIGKILL'))
  const told = createInterface({ input: child.stderr })
  const printed: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => printed.push(line))
  for await (const line of told) if (line.startsWith('Ctrl-C')) break
  while (printed.length < 3) await once(child.stdout, 'data')

  const environment = new Map(printed.map((line) => /^export (\w+)='(.*)'$/.exec(line)?.slice(1) as [string, string]))
  const known = new Set(Object.values(SETTINGS).map((setting) => setting.name))
  assert.deepEqual([...environment.keys()], ['LINK', 'NATS_URL', 'NATS_SYNCED'])
  for (const name of environment.keys()) assert.ok(known.has(name), `${name} is not a setting`)

  const connection = await connect({ servers: environment.get('NATS_URL') ?? '' })
  const disconnected = connection.closed()
  child.kill('SIGINT')
  assert.deepEqual(await exited, [0, null])
  await connection.close()
  await disconnected
  await assert.rejects(connect({ servers: environment.get('NATS_URL') ?? '', reconnect: false, timeout: 2_000 }))
  assert.ok(existsSync(join(folder, 'nats', 'data')))
})

test('services names what it does not know and starts nothing', async () => {
  const child = spawn(process.execPath, [SCRIPT, 'oracle'], { stdio: ['ignore', 'ignore', 'pipe'] })
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (part: string) => (text += part))
  const [code] = (await once(child, 'close')) as [number]
  assert.equal(code, 2)
  assert.match(text, /no service 'oracle': there are nats, postgres, questdb/)
})
