/** What a whole process serves, beside the route table that the other walks take: nothing but the protocols that are listed here, each with its reason. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startPlatform } from '../../compose/platform.ts'
import { readConfig } from '../../config/read.ts'
import { createLog } from '../../logging/log.ts'
import { UwsServer } from '../../server/uws.ts'
import { openRestWorld } from './rest-world.ts'

/** The token in the path is a device's, there is no user whose rights could be declared, and calls wait: `test/conformance/device-http.test.ts`. */
const OF_DEVICES = [
  'GET /api/v1/:token/attributes',
  'GET /api/v1/:token/attributes/updates',
  'GET /api/v1/:token/firmware',
  'GET /api/v1/:token/rpc',
  'GET /api/v1/:token/software',
  'OPTIONS /api/v1/:token/*',
  'OPTIONS /api/v1/provision',
  'POST /api/v1/:token/attributes',
  'POST /api/v1/:token/claim',
  'POST /api/v1/:token/rpc',
  'POST /api/v1/:token/rpc/:requestId',
  'POST /api/v1/:token/telemetry',
  'POST /api/v1/provision',
]
/** Bodies of any form, admitted by the secret of an integration: `test/conformance/integrations.test.ts`. */
const OF_INTEGRATIONS = ['POST /api/v1/integrations/http/:key']
/** Log-in and rights are those of the commands: `commands.test.ts`. */
const SOCKETS = ['/api/ws', '/api/ws/*', '/api/ws/plugins/notifications', '/api/ws/plugins/telemetry']

test('a process serves the calls of the route table, and listed protocols', { timeout: 120_000 }, async (context) => {
  const routes = context.mock.method(UwsServer.prototype, 'route').mock
  const sockets = context.mock.method(UwsServer.prototype, 'webSocket').mock
  const world = await openRestWorld()
  context.after(() => world.close())
  const known = new Set(world.served.map(({ method, pattern }) => `${method} ${pattern}`))
  routes.resetCalls()
  sockets.resetCalls()

  const folder = await mkdtemp(join(tmpdir(), 'millrace-routes-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  const ports = ['HTTP', 'MQTT', 'COAP', 'LWM2M', 'LWM2M_BS'].map((name) => [`${name}_BIND_PORT`, '0'])
  const config = readConfig({ ...(Object.fromEntries(ports) as Record<string, string>), DATA_DIR: folder })
  const fatal = Promise.withResolvers<never>()
  const platform = await Promise.race([
    startPlatform(config, '0.0.0', createLog('silent'), (error) => fatal.reject(error)),
    fatal.promise,
  ])
  await platform.close()

  const served = routes.calls.map(({ arguments: [method, pattern] }) => `${method} ${pattern}`)
  // Of any method: the answers to others than those that a path has.
  const beside = served.filter((name) => !known.has(name) && !name.startsWith('ANY '))
  assert.deepEqual(beside.toSorted(), [...OF_DEVICES, ...OF_INTEGRATIONS].toSorted())
  assert.deepEqual(sockets.calls.map(({ arguments: [pattern] }) => pattern).toSorted(), SOCKETS)
  assert.ok(known.size > 500)
})
