import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { startMillrace } from '../test/support/start-millrace.ts'
import { requireOwnServer, startValkey } from '../test/support/servers/index.ts'

test('with CACHE_TYPE=redis a server reads attributes through Redis, and says at its start what to set there', async (context) => {
  if (!requireOwnServer(context, 'valkey')) return
  const valkey = await startValkey({ maxmemoryPolicy: 'noeviction' })
  context.after(() => valkey.stop())
  const environment = { CACHE_TYPE: 'redis', REDIS_HOST: '127.0.0.1', REDIS_PORT: new URL(valkey.url).port }
  const millrace = await startMillrace({ environment })
  context.after(() => millrace.stop())
  // The start waits for no cache: on a busy machine it comes a moment later.
  while (!millrace.log().includes('set maxmemory-policy to allkeys-random')) await pause(20)
  const shows = async (line: RegExp): Promise<void> => {
    while (!line.test(await (await fetch(`${millrace.url}/metrics`)).text())) await pause(20)
  }
  await shows(/^millrace_attribute_cache_connected 1$/m)
  await valkey.stop()
  await shows(/^millrace_attribute_cache_connected 0$/m)
  assert.equal((await fetch(`${millrace.url}/health`)).status, 200)
})
