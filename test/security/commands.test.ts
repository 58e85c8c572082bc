/**
 * Walks the WebSocket commands, so that a new one cannot forget its check: each declared command, by its examples, as the owner, another
 * tenant's administrator, a user of another customer, a public visitor and the system administrator; then things change, and only the owner hears.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { COMMANDS } from '../../api/ws/commands.ts'
import { entityId, isUuid } from '../../model/entity-id.ts'
import { customers } from '../../services/entities/customer.ts'
import { devices } from '../../services/entities/device.ts'
import { publicCustomer } from '../../services/entities/public-customer.ts'
import { openRestWorld, type RestWorld } from './rest-world.ts'
import { TestClient } from './socket.ts'

interface Sent {
  readonly cmdId: number
  readonly name: string
  readonly isSilent: boolean
  readonly command: { readonly type: string }
}

const SYSTEM_ADMINISTRATOR = 'the system administrator'

describe('every WebSocket command', { timeout: 600_000 }, () => {
  let world: RestWorld
  const clients: TestClient[] = []

  before(async () => {
    world = await openRestWorld()
    // Another customer's, which is a sibling to the customer of the walk.
    const { services, tenant } = world.platform
    const customer = { id: world.ids['customerId'] ?? '', title: 'secret customer' }
    await services.declared.of(devices).assignByUser(tenant, world.ids['deviceId'] ?? '', customer)
    await change('secret first')
  })
  after(async () => {
    for (const client of clients) client.close()
    await world.close()
  })

  /** What every command may be about changes. */
  async function change(value: string): Promise<void> {
    const { services, tenant } = world.platform
    const device = entityId('DEVICE', world.ids['deviceId'] ?? '')
    const entries = (key: string) => [{ key, type: 'STRING', value } as const]
    const ts = world.platform.clock.time++
    await services.telemetry.saveByUser(tenant, device, [{ ts, entries: entries('secretSeries') }], 0)
    await services.attributes.saveByUser(tenant, device, 'SERVER_SCOPE', entries('secretAttribute'))
    const originator = entityId('ASSET', world.ids['assetId'] ?? '')
    await services.alarms.saveByUser(tenant, { originator, type: value, severity: 'MAJOR' })
  }

  async function open(token: string): Promise<TestClient> {
    const client = await TestClient.open(world.url, { token })
    clients.push(client)
    return client
  }

  function sent(ids = world.ids, firstId = 1): readonly Sent[] {
    let cmdId = firstId - 1
    const examples = COMMANDS.flatMap((command) =>
      command.examples(ids).map((members) => ({ type: command.type, isSilent: command.isSilent, members })),
    )
    // What ends a command comes last, each under an id of its own: nothing of the others ends.
    return examples.map(({ type, isSilent, members }) => {
      cmdId++
      return { cmdId, name: `${type} ${cmdId}`, isSilent, command: { type, cmdId, ...members } }
    })
  }

  /** What a stranger must never read: names of things, their values, and ids. */
  function assertNothingShown(client: TestClient, who: string): void {
    const secrets = ['secret ', ...Object.values(world.ids).filter(isUuid)]
    for (const { text, id } of client.frames) {
      const shown = secrets.find((secret) => text.includes(secret))
      const name = sent().find(({ cmdId }) => cmdId === id)?.name ?? 'what is no command'
      assert.equal(shown, undefined, `${name} shows ${shown} to ${who}: ${text}`)
    }
  }

  /** The first answer, without the id that it answers. */
  async function ask(client: TestClient, { cmdId, isSilent, command }: Sent): Promise<string> {
    client.send(command)
    if (isSilent) await client.barrier(1)
    const answer = isSilent ? undefined : await client.frame(({ id }) => id === cmdId)
    return answer?.text.replace(/^\{"(cmdId|subscriptionId)":\d+/, '') ?? ''
  }

  /** Whether something is there must not show either; the system administrator counts what all tenants have, as over REST. */
  async function askAsForNothing(client: TestClient, who: string): Promise<void> {
    const mayCount = who === SYSTEM_ADMINISTRATOR
    const nothing = Object.entries(world.ids).map(([name, id]) => [name, isUuid(id) ? randomUUID() : id] as const)
    const asked = sent(Object.fromEntries(nothing), 1001)
    for (const [place, each] of sent().entries()) {
      const other = asked[place]
      assert.ok(other !== undefined)
      if (mayCount && each.command.type === 'ENTITY_COUNT') continue
      assert.equal(await ask(client, each), await ask(client, other), `${each.name}, asked by ${who}`)
    }
  }

  test('is in this walk, by examples that can be read', () => {
    for (const command of COMMANDS) {
      const found = command.examples(world.ids)
      assert.ok(found.length > 0, `${command.type} has no example`)
      for (const members of found) {
        const isRead = command.parse({ type: command.type, cmdId: 1, ...members }) !== undefined
        assert.ok(isRead, `an example of ${command.type} is no such command: ${JSON.stringify(members)}`)
      }
    }
    assert.ok(sent().length > 20)
  })

  test('is refused before a login', async () => {
    for (const { command } of sent()) {
      const client = await TestClient.open(world.url, {})
      clients.push(client)
      client.send(command)
      assert.equal((await client.closing()).code, 1007)
      assert.deepEqual(client.frames, [])
    }
  })

  test('answers the owner, and strangers without showing anything; what changes then only the owner hears', async () => {
    const { services, tenant } = world.platform
    const visited = await publicCustomer(services.declared, tenant)
    const owner = await open(world.tenant)
    const strangers = {
      'another tenant': await open(world.otherTenant),
      "another customer's user": await open(world.customer),
      'a public visitor': await open(await world.publicToken(visited.id)),
      [SYSTEM_ADMINISTRATOR]: await open(world.systemAdministrator),
    }
    for (const each of sent()) await ask(owner, each)
    for (const { id, text, errorCode } of owner.frames)
      assert.ok(id < 0 || errorCode === 0, `the owner is refused: ${text}`)
    for (const [who, client] of Object.entries(strangers)) {
      await askAsForNothing(client, who)
      assertNothingShown(client, who)
    }
    const heard = owner.frames.length
    await change('secret second')
    for (const word of ['secretSeries', 'secretAttribute', 'ALARM_DATA'])
      await owner.frame(({ text }) => text.includes(word) && text.includes('secret second'), heard)
    for (const [who, client] of Object.entries(strangers)) {
      await client.barrier()
      assertNothingShown(client, who)
    }
  })

  test('a socket ends with the API key that opened it: switched off, or gone', async () => {
    const { services, tenant } = world.platform
    const { apiKeys } = services.people
    const draft = { userId: tenant.userId, description: 'of a socket', enabled: true, expirationTime: 0 }
    for (const end of ['switched off', 'gone'] as const) {
      const { key, value } = await apiKeys.create(tenant, draft)
      const client = await TestClient.open(world.url, { apiKey: value })
      await client.barrier(1)
      if (end === 'gone') await apiKeys.service.deleteByUser(tenant, key.id)
      else await apiKeys.change(tenant, key, { enabled: false })
      assert.deepEqual(await client.closing(), { code: 1008, reason: 'The login was withdrawn' })
      const again = await TestClient.open(world.url, { apiKey: value })
      const reason = end === 'gone' ? 'User not found for the provided API key' : 'User account is not active'
      assert.deepEqual(await again.closing(), { code: 1007, reason })
    }
  })

  test("a visitor's socket ends with the public customer", async () => {
    const { services, tenant } = world.platform
    const visited = await publicCustomer(services.declared, tenant)
    const client = await TestClient.open(world.url, { token: await world.publicToken(visited.id) })
    await client.barrier(1)
    await services.declared.of(customers).deleteByUser(tenant, visited.id)
    assert.deepEqual(await client.closing(), { code: 1008, reason: 'The login was withdrawn' })
  })
})
