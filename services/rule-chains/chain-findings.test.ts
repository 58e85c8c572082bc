import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { NodeCatalogue } from '../../engine/rulechain/node.ts'
import { assetProfiles } from '../entities/asset-profile.ts'
import { deviceProfiles } from '../entities/device-profile.ts'
import { openTestPlatform, testCatalogue } from '../testkit.ts'
import { Vault, VAULT_KEY_BYTES } from '../vault/vault.ts'
import { ChainFindings } from './chain-findings.ts'
import { NodeSecrets } from './node-secrets.ts'
import { INPUT_NODE_TYPE } from './node-types.ts'

const TELEMETRY = ['POST_TELEMETRY_REQUEST']

const catalogue: NodeCatalogue = {
  ...testCatalogue,
  find: (type) => {
    const found = testCatalogue.find(type)
    if (type === 'test.Keeps') return found && { ...found, takes: TELEMETRY }
    return type === 'test.Sorts' ? found && { ...found, passes: () => TELEMETRY } : found
  },
}

test('what comes into a chain of a profile comes behind no type switch', async (context) => {
  const platform = await openTestPlatform()
  context.after(() => platform.close())
  const { services, entities, tenant } = platform
  const { declared, ruleChains } = services
  const node = (type: string, configuration = {}) => ({ type, name: type, configuration })
  const chain = await ruleChains.saveByUser(tenant, { name: 'called' })
  const drawn = { ruleChainId: chain.id, firstNodeIndex: 0, nodes: [node('test.Keeps')], connections: [] }
  const graph = await ruleChains.saveGraphByUser(tenant, drawn)
  const { id: ruleChainId } = await ruleChains.saveByUser(tenant, { name: 'calls' })
  const nodes = [node('test.Sorts'), node(INPUT_NODE_TYPE, { ruleChainId: chain.id })]
  const connections = [{ fromIndex: 0, toIndex: 1, type: 'Success' }]
  await ruleChains.saveGraphByUser(tenant, { ruleChainId, firstNodeIndex: 0, nodes, connections })
  const secrets = new NodeSecrets(new Vault(randomBytes(VAULT_KEY_BYTES)), catalogue)
  const check = new ChainFindings({ entities, declared, catalogue, secrets })
  const found = async () => (await check.of(chain, graph)).map(({ text }) => text)
  assert.deepEqual(await found(), [])
  const kinds = { type: 'DEFAULT', transportType: 'DEFAULT', provisionType: 'DISABLED' }
  for (const profiles of [assetProfiles, deviceProfiles]) {
    const service = declared.ofType(profiles.type)
    assert.ok(service !== undefined)
    const draft = { ...kinds, name: 'of the chain', defaultRuleChainId: chain.id }
    const { id } = await service.saveByUser(tenant, draft)
    const [text = '', ...more] = await found()
    assert.match(text, /takes POST_TELEMETRY_REQUEST alone/)
    assert.deepEqual(more, [])
    await service.deleteByUser(tenant, id)
  }
  assert.deepEqual(await found(), [])
})
