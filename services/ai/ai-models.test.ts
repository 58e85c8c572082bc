import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isJsonObject, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import { SECRET_MASK } from '../../model/secret-members.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { aiModels } from '../entities/ai-model.ts'
import type { TestPlatform } from '../testkit.ts'
import { Vault, VAULT_KEY_BYTES } from '../vault/vault.ts'
import { aiConfigurationOf, openedAi, sealedAi, sealedAnewAi } from './configuration.ts'

const OPENAI: JsonObject = { provider: 'OPENAI', modelId: 'gpt-4o', providerConfig: { apiKey: 'sk-hunter2' } }
const OLLAMA: JsonObject = {
  ...{ provider: 'OLLAMA', modelId: 'llama3.2', temperature: 0.5 },
  providerConfig: { baseUrl: 'http://ollama:11434', auth: { type: 'TOKEN', token: 'hunter2-token' } },
}

await onBothDatabases('AI models ', (open) => {
  let platform: TestPlatform
  before(async () => void (platform = await open()))
  after(() => platform.close())

  const stored = async (id: string) =>
    stringifyJson((await platform.services.declared.of(aiModels).findAnywhere(id))?.configuration as JsonValue)

  test('keys are sealed where they are kept, masked where they are shown and open where they are used', async () => {
    const { services, tenant, tenantId } = platform
    for (const [name, configuration, secret] of [
      ['openai', OPENAI, 'sk-hunter2'],
      ['ollama', OLLAMA, 'hunter2-token'],
    ] as const) {
      const model = await services.aiModels.saveByUser(tenant, { name, configuration })
      assert.ok(!(await stored(model.id)).includes(secret))
      const shown = stringifyJson(aiModels.jsonOf(model))
      assert.ok(!shown.includes(secret) && !shown.includes('sealed:') && shown.includes(SECRET_MASK))
      const opened = await services.aiModels.open(tenantId, model.id)
      assert.deepEqual(opened.configuration, aiConfigurationOf(configuration))
    }
  })

  test('a key that comes as a number is sealed as the text that it is read as', async () => {
    const { services, tenant, tenantId } = platform
    const configuration = { ...OPENAI, providerConfig: { apiKey: 31_415_926 } }
    const model = await services.aiModels.saveByUser(tenant, { name: 'number', configuration })
    assert.ok(!(await stored(model.id)).includes('31415926'))
    const opened = await services.aiModels.open(tenantId, model.id)
    assert.deepEqual(opened.configuration.providerConfig, { apiKey: '31415926' })
  })

  test('a mask that comes back keeps the key of the same provider, and of no other', async () => {
    const { services, tenant, tenantId } = platform
    const model = await services.aiModels.saveByUser(tenant, { name: 'kept', configuration: OPENAI })
    const masked = { ...OPENAI, modelId: 'gpt-5', providerConfig: { apiKey: SECRET_MASK } }
    const { id } = await services.aiModels.saveByUser(tenant, { id: model.id, name: 'kept', configuration: masked })
    const { configuration } = await services.aiModels.open(tenantId, id)
    assert.deepEqual([configuration.modelId, configuration.providerConfig], ['gpt-5', { apiKey: 'sk-hunter2' }])
    const elsewhere = { ...masked, providerConfig: { apiKey: SECRET_MASK, baseUrl: 'https://elsewhere.example.org' } }
    await assert.rejects(services.aiModels.saveByUser(tenant, { id, name: 'kept', configuration: elsewhere }), {
      code: 'ai.SECRET_MASKED',
    })
    const moved = { provider: 'ANTHROPIC', modelId: 'm', providerConfig: { apiKey: SECRET_MASK } }
    const save = (change: object) =>
      services.aiModels.saveByUser(tenant, { name: 'kept', configuration: moved, ...change })
    await assert.rejects(save({ id }), { code: 'ai.SECRET_MASKED' })
    await assert.rejects(save({ name: 'new' }), { code: 'ai.SECRET_MASKED' })
  })

  test('another tenant opens none; two of a name are refused; lists find by provider', async () => {
    const { services, tenant } = platform
    const model = await services.aiModels.saveByUser(tenant, { name: 'own', configuration: OLLAMA })
    await assert.rejects(services.aiModels.open('99999999-9999-4999-8999-999999999999', model.id), /is not found/)
    await assert.rejects(services.aiModels.saveByUser(tenant, { name: 'own', configuration: OPENAI }), {
      code: 'ai.NAME_TAKEN',
    })
    const query = { page: 0, pageSize: 10, textSearch: 'olla', sortProperty: 'modelId', sortOrder: 'ASC' } as const
    const page = await services.aiModels.page(tenant, query)
    assert.deepEqual(page.data.map(({ name }) => name).sort(), ['ollama', 'own'])
  })

  test('a configuration of the wrong shape is refused with the name of the member', async () => {
    const { services, tenant } = platform
    for (const [configuration, member] of [
      [{ ...OPENAI, provider: 'HAL' }, 'configuration.provider'],
      [{ ...OPENAI, modelId: '' }, 'configuration.modelId'],
      [{ ...OPENAI, topP: 1.5 }, 'configuration.topP'],
      [
        { ...OLLAMA, providerConfig: { baseUrl: 'file:///etc', auth: { type: 'NONE' } } },
        'configuration.providerConfig.baseUrl',
      ],
      [{ provider: 'ANTHROPIC', modelId: 'm', providerConfig: {} }, 'configuration.providerConfig.apiKey'],
    ] as const) {
      await assert.rejects(
        services.aiModels.saveByUser(tenant, { name: 'bad', configuration }),
        (error) => error instanceof Error && error.message.includes(member),
        member,
      )
    }
    await assert.rejects(services.aiModels.saveByUser(tenant, { name: 'bad' }), /configuration/)
  })

  test('what was brought in open is sealed at the start', async () => {
    const { services, entities, tenant, tenantId } = platform
    const service = services.declared.of(aiModels)
    const model = await services.aiModels.saveByUser(tenant, { name: 'open', configuration: OPENAI })
    await entities.write([service.update({ ...model, version: model.version + 1, configuration: OPENAI })])
    assert.ok((await stored(model.id)).includes('sk-hunter2'))
    await services.aiModels.sealAnew()
    assert.ok(!(await stored(model.id)).includes('sk-hunter2'))
    const { configuration } = await services.aiModels.open(tenantId, model.id)
    assert.deepEqual(configuration.providerConfig, { apiKey: 'sk-hunter2' })
  })
})

test('what a former key sealed is sealed anew, once', () => {
  const [former, now] = [new Uint8Array(VAULT_KEY_BYTES).fill(1), new Uint8Array(VAULT_KEY_BYTES).fill(2)]
  const before = sealedAi(OPENAI, new Vault(former), 't')
  const vault = new Vault(now, [former])
  const anew = sealedAnewAi(before, vault, 't')
  assert.ok(isJsonObject(anew))
  assert.equal(sealedAnewAi(anew, vault, 't'), undefined)
  assert.deepEqual(openedAi(anew, new Vault(now), 't'), OPENAI)
  assert.throws(() => openedAi(anew, new Vault(now), 'another'), { code: 'vault.DAMAGED' })
})
