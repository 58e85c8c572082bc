import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { stringifyJson } from '../../model/json.ts'
import { SECRET_MASK } from '../../model/secret-members.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { integrations } from '../entities/integration.ts'
import type { TestPlatform } from '../testkit.ts'

const CONVERTER = { script: 'return {deviceName: payload.d};' }
const MQTT = {
  ...{ host: 'broker.example', port: 1883, username: 'u', password: 'hunter2' },
  topics: [{ filter: 'a/#', qos: 1 }],
}

await onBothDatabases('Integrations ', (open) => {
  let platform: TestPlatform
  before(async () => void (platform = await open()))
  after(() => platform.close())
  const save = (members: object) =>
    platform.services.integrations.saveByUser(platform.tenant, { type: 'MQTT', converter: CONVERTER, ...members })

  test('secrets are sealed where they are kept, masked where they are shown, and open where they are used', async () => {
    const saved = await save({ name: 'sealed', configuration: MQTT })
    const kept = await platform.services.integrations.find(saved.id)
    assert.ok(kept !== undefined && !stringifyJson(kept.configuration).includes('hunter2'))
    const shown = stringifyJson(integrations.jsonOf(saved))
    assert.ok(!/hunter2|sealed:/.test(shown) && shown.includes(SECRET_MASK))
    assert.ok(kept.routingKey !== null && !shown.includes(kept.routingKey))
    assert.equal(platform.services.integrations.open(kept).json['password'], 'hunter2')
  })

  test('a mask keeps the password for the same host, and for no other', async () => {
    const { id } = await save({ name: 'kept', configuration: MQTT })
    const masked = { ...MQTT, password: SECRET_MASK }
    const again = await save({ id, name: 'kept', configuration: masked })
    assert.equal(platform.services.integrations.open(again).json['password'], 'hunter2')
    const elsewhere = { ...masked, host: 'other.example' }
    await assert.rejects(save({ id, name: 'kept', configuration: elsewhere }), { code: 'integration.SECRET_MASKED' })
  })

  test('the longest password is taken, and a row that this version refuses can be mended', async () => {
    const password = 'p'.repeat(512)
    const saved = await save({ name: 'long', configuration: { ...MQTT, password } })
    assert.equal(platform.services.integrations.open(saved).json['password'], password)
    const { declared } = platform.services
    const entities = declared.of(integrations)
    const damaged = { ...saved, version: saved.version + 1, configuration: { ...MQTT, username: null } }
    await platform.entities.write([entities.update(damaged)])
    assert.throws(() => platform.services.integrations.open(damaged), /user name/)
    const mended = await save({ id: saved.id, name: 'long', configuration: MQTT })
    assert.equal(platform.services.integrations.open(mended).json['password'], 'hunter2')
  })

  test('what is wrong is said with its member or its line before anything is kept', async () => {
    for (const [members, reason] of [
      [{ configuration: { ...MQTT, port: 0 } }, /configuration\.port/],
      [{ configuration: { ...MQTT, topics: [] } }, /configuration\.topics/],
      [{ configuration: MQTT, converter: { script: 'return {' } }, /line 1, column/],
      [{ configuration: MQTT, converter: null }, /converter/],
    ] as const)
      await assert.rejects(save({ name: 'bad', ...members }), reason)
    const tenantId = platform.services.declared.of(integrations).tenantOf(platform.tenant)
    assert.equal(await platform.services.declared.of(integrations).findByName(tenantId, 'bad'), undefined)
  })
})
