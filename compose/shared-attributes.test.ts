import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startMillrace } from '../test/support/start-millrace.ts'
import { requireOwnServer, startValkey } from '../test/support/servers/index.ts'

test('with CACHE_TYPE=redis a server reads attributes through Redis, and says at its start what to set there', async (context) => {
  if (!requireOwnServer(context, 'valkey')) return
  const valkey = await startValkey({ maxmemoryPolicy: 'noeviction' })
  context.after(() => valkey.stop())
  const environment = { CACHE_TYPE: 'redis', REDIS_HOST: '127.0.0.1', REDIS_PORT: new URL(valkey.url).port }
  const millrace = await startMillrace({ environment })
  context.after(() => millrace.stop())
  assert.match(millrace.log(), /set maxmemory-policy to allkeys-random/)
  const figures = async (): Promise<string> => (await fetch(`${millrace.url}/metrics`)).text()
  assert.match(await figures(), /^millrace_attribute_cache_connected 1$/m)
  await valkey.stop()
  while (!/^millrace_attribute_cache_connected 0$/m.test(await figures())) continue
  assert.equal((await fetch(`${millrace.url}/health`)).status, 200)
})
