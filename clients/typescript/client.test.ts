import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { JsonObject } from '../../model/json.ts'
import { openRestWorld, type RestWorld } from '../../test/security/rest-world.ts'
import { clientFiles } from '../generator/files.ts'
import { ApiError, MillraceClient, type User } from './client.ts'

const TENANT = ['tenant@millrace.local', 'tenant'] as const
const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const ME = { method: 'GET', path: '/api/auth/user' }

describe('the TypeScript client', () => {
  let world: RestWorld
  let client: MillraceClient

  before(async () => {
    world = await openRestWorld()
    client = new MillraceClient({ url: world.url })
    await client.login(...TENANT)
  })
  after(() => world.close())

  test('is what the declarations generate now', async () => {
    const description = (await (await fetch(`${world.url}/v3/api-docs`)).json()) as JsonObject
    for (const [path, text] of await clientFiles(description))
      assert.ok((await readFile(path, 'utf8')) === text, `${path} is old: run \`npm run docs\``)
  })

  test('has the example that its README shows', async () => {
    const [readme, example] = await Promise.all(
      ['README.md', 'example.ts'].map((name) => readFile(join(import.meta.dirname, name), 'utf8')),
    )
    assert.ok(readme?.includes(`\`\`\`ts\n${example}\`\`\``))
    const run = await promisify(execFile)(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'example.ts')],
      { env: { ...process.env, MILLRACE_URL: world.url } },
    )
    assert.equal(run.stdout, "[ 'Boiler 1 in the cellar' ]\n400 31 Device with such name already exists!\n")
  })

  test('makes, reads, changes and deletes a device', async () => {
    const device = await client.postDevice({ accessToken: 'CLIENT_TOKEN', body: { name: 'typed', label: 'old' } })
    const { id: deviceId } = device.id
    assert.equal((await client.getDeviceByDeviceIdCredentials({ deviceId })).credentialsId, 'CLIENT_TOKEN')
    const changed = await client.postDevice({ body: { ...device, label: 'new' } })
    assert.deepEqual([changed.label, changed.version], ['new', device.version + 1])
    assert.deepEqual(await client.getDeviceByDeviceId({ deviceId }), changed)
    assert.equal(await client.deleteDeviceByDeviceId({ deviceId }), undefined)
    await assert.rejects(client.getDeviceByDeviceId({ deviceId }), (error) => {
      assert.ok(error instanceof ApiError)
      assert.deepEqual([error.status, error.errorCode], [404, 32])
      assert.equal(error.message, `Device with id [${deviceId}] is not found`)
      assert.equal(error.operation, 'GET /api/device/{deviceId}')
      return true
    })
  })

  test('pages through a list, and finds by name with the same operation', async () => {
    const names = ['page 1', 'page 2', 'page 3']
    for (const name of names) await client.postDevice({ body: { name } })
    const found: string[] = []
    for (let page = 0, hasNext = true; hasNext; page++) {
      const order = { sortProperty: 'name', sortOrder: 'ASC' } as const
      const part = await client.getTenantDevices({ pageSize: 2, page, textSearch: 'page ', ...order })
      assert.equal(part.totalElements, 3)
      found.push(...part.data.map(({ name }) => name))
      hasNext = part.hasNext
    }
    assert.deepEqual(found, names)
    assert.equal((await client.getTenantDevices({ deviceName: 'page 2' })).name, 'page 2')
  })

  test('asks a query with a nested filter', async () => {
    await client.postDevice({ body: { name: 'queried & found' } })
    const answer = await client.postEntitiesQueryFind({
      body: {
        entityFilter: { type: 'entityType', entityType: 'DEVICE' },
        keyFilters: [
          {
            key: { type: 'ENTITY_FIELD', key: 'name' },
            predicate: {
              type: 'COMPLEX',
              operation: 'AND',
              predicates: [
                { type: 'STRING', operation: 'STARTS_WITH', value: { defaultValue: 'queried' } },
                { type: 'STRING', operation: 'ENDS_WITH', value: { defaultValue: 'found' } },
              ],
            },
          },
        ],
        entityFields: [{ type: 'ENTITY_FIELD', key: 'name' }],
        pageLink: { page: 0, pageSize: 5 },
      },
    })
    assert.equal(answer.totalElements, 1)
  })

  test('uploads a file and loads it again; answers nothing where nothing is', async () => {
    const image = await client.postImage({ body: { file: new File([GIF], 'dot.gif'), title: 'A dot' } })
    assert.deepEqual([image.title, image.fileName], ['A dot', 'dot.gif'])
    const loaded = await client.getImagesByImageTypeByImageKey({
      imageType: 'tenant',
      imageKey: image.resourceKey ?? '',
    })
    assert.deepEqual(Buffer.from(await loaded.arrayBuffer()), GIF)
    assert.equal(await client.getDashboardHome(), undefined)
  })

  test('renews a token that is over, once for all calls that wait', async (context) => {
    world.platform.clock.time += 3 * 3_600_000
    const calls = context.mock.method(globalThis, 'fetch')
    const answers = await Promise.all([1, 2, 3, 4].map(() => client.call<User>(ME)))
    assert.deepEqual([...new Set(answers.map(({ email }) => email))], [TENANT[0]])
    const paths = calls.mock.calls.map(({ arguments: [address] }) =>
      typeof address === 'string' ? new URL(address).pathname : '',
    )
    assert.equal(paths.filter((path) => path === '/api/auth/token').length, 1)
    assert.equal(paths.length, 9, 'four refused, one renewal, four answered')
  })

  test('forgets its tokens when it logs out, and says when a log-in is refused', async () => {
    const other = new MillraceClient({ url: `${world.url}/` })
    await other.login(...TENANT)
    await other.logout()
    const refusal = { name: 'ApiError', status: 401, errorCode: 10, message: 'Invalid username or password' }
    await assert.rejects(other.call(ME), { status: 401 })
    await assert.rejects(other.login(TENANT[0], 'wrong'), refusal)
    const stale = new MillraceClient({ url: world.url, tokens: { token: 'no token', refreshToken: 'nor this' } })
    await assert.rejects(stale.call(ME), { status: 401, operation: 'POST /api/auth/token' })
  })

  test('goes on with the tokens that a change of its password answers', async () => {
    const [email, currentPassword] = TENANT
    const newPassword = 'another secret'
    await client.login(...TENANT)
    world.platform.clock.time += 2_000
    await client.postAuthChangePassword({ body: { currentPassword, newPassword } })
    assert.equal((await client.getAuthUser()).email, email)
    world.platform.clock.time += 2_000
    await client.postAuthChangePassword({ body: { currentPassword: newPassword, newPassword: currentPassword } })
  })

  test('sends a wrong password once, though it is logged in: each try counts', async (context) => {
    await client.login(...TENANT)
    const { mock } = context.mock.method(globalThis, 'fetch')
    const wrong = { username: TENANT[0], password: 'wrong' }
    await assert.rejects(client.postAuthLogin({ body: wrong }), { status: 401 })
    await assert.rejects(client.postAuthToken({ body: { refreshToken: 'none' } }), { status: 401 })
    assert.equal(mock.callCount(), 2)
  })

  test('logs in by an API key', async () => {
    const { id: userId } = await client.call<User>(ME)
    const key = await client.postApiKey({ body: { userId, description: 'of the client' } })
    const byKey = new MillraceClient({ url: world.url, apiKey: key.value ?? '' })
    assert.equal((await byKey.call<User>(ME)).email, TENANT[0])
    await client.deleteApiKeyByApiKeyId({ apiKeyId: key.id.id })
    await assert.rejects(byKey.call(ME), { status: 401 })
  })

  test('refuses a path parameter that would lead elsewhere', async () => {
    for (const deviceId of ['', '.', '..'])
      await assert.rejects(client.getDeviceByDeviceId({ deviceId }), { name: 'TypeError' })
    await assert.rejects(client.getDeviceByDeviceId({ deviceId: '../tenant/devices' }), {
      status: 400,
      message: 'Invalid UUID string: ../tenant/devices',
    })
  })

  test('ends a call by its own time-out and by the signal of its caller', async (context) => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1')
    context.after(() => {
      silent.closeAllConnections()
      silent.close()
    })
    await new Promise((listening) => silent.once('listening', listening))
    const { port } = silent.address() as AddressInfo
    const patient = new MillraceClient({ url: `http://127.0.0.1:${port}`, apiKey: 'any' })
    await assert.rejects(patient.getAssetTypes({ timeoutMs: 20 }), { name: 'TimeoutError' })
    const controller = new AbortController()
    const call = patient.getAssetTypes({ signal: controller.signal })
    controller.abort()
    await assert.rejects(call, { name: 'AbortError' })
  })
})
