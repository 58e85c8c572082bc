import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { currentConfiguration } from '../../engine/rulechain/configuration.ts'
import { checkGraph } from '../../engine/rulechain/graph-check.ts'
import { parseJson } from '../../model/json.ts'
import type { JsonObject } from '../../model/json.ts'
import { catalogue } from '../../nodes/catalogue.ts'
import { createNode, runNode, testContext, testMessage } from '../../nodes/testkit.ts'

const metadataSchema = z.object({
  firstNodeIndex: z.int().nullable(),
  nodes: z.array(
    z.object({
      type: z.string(),
      name: z.string(),
      configuration: z.custom<JsonObject>((value) => value !== null && typeof value === 'object'),
      configurationVersion: z.int().nullish(),
    }),
  ),
  connections: z.array(z.object({ fromIndex: z.int(), toIndex: z.int(), type: z.string() })).nullable(),
})
type Metadata = z.infer<typeof metadataSchema>

/** A whole export, or the metadata alone; undefined where the file holds no graph. */
function graphIn(file: URL): Metadata | undefined {
  const content = z.record(z.string(), z.unknown()).parse(parseJson(readFileSync(file, 'utf8')))
  const metadata = content['metadata'] ?? content
  return metadata instanceof Object && 'nodes' in metadata ? metadataSchema.parse(metadata) : undefined
}

/** Checks every node as a save does: the names of the types that are not there. */
function unknownTypes(metadata: Metadata): string[] {
  const unknown: string[] = []
  checkGraph(metadata)
  for (const node of metadata.nodes) {
    const definition = catalogue.find(node.type)
    if (definition === undefined) {
      unknown.push(node.type)
      continue
    }
    const stored = { configuration: node.configuration, configurationVersion: node.configurationVersion ?? 0 }
    const current = currentConfiguration(definition, stored)
    assert.equal(current.configurationVersion, definition.configurationVersion)
    definition.check(current.configuration)
  }
  return unknown
}

describe('exported chains of others', () => {
  const folder = new URL('../../../shared/chains/', import.meta.url)
  const skip = existsSync(folder) ? false : '../shared/chains is not here'
  const expected: Readonly<Record<string, readonly string[]>> = {
    'MqttRuleNodeTestMetadata.json': [],
    'RpcResponseRuleChainMetadata.json': [],
    'edge_root_rule_chain.json': [],
    'root_rule_chain.json': [],
    'ruleChainForImport.json': [],
    'rule_chain.json': [],
    'rule_chain_template.json': [],
  }

  test('all their nodes are known and their configurations are taken', { skip }, () => {
    const found: Record<string, readonly string[]> = {}
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
      const metadata = graphIn(new URL(file, folder))
      if (metadata === undefined) continue
      const unknown = new Set(unknownTypes(metadata).map((type) => type.replace('org.thingsboard.rule.engine.', '')))
      found[file] = [...unknown].sort()
    }
    assert.deepEqual(found, expected)
  })
})

describe('example chains', () => {
  for (const [file, language] of [
    ['temperature-filter.json', 'TBEL'],
    ['temperature-filter-javascript.json', 'JS'],
  ] as const) {
    const metadata = graphIn(new URL(`../../examples/${file}`, import.meta.url))

    test(`${file} has only nodes that are there, and its filter is written in ${language}`, () => {
      assert.ok(metadata !== undefined)
      assert.deepEqual(unknownTypes(metadata), [])
      const filter = metadata.nodes.find(({ type }) => type.endsWith('TbJsFilterNode'))
      assert.equal(filter?.configuration['scriptLang'], language)
    })

    test(`${file} passes -40 to 80 and what has no temperature`, async () => {
      const filter = metadata?.nodes.find(({ type }) => type.endsWith('TbJsFilterNode'))
      const definition = catalogue.find(filter?.type ?? '')
      assert.ok(filter !== undefined && definition !== undefined)
      const instance = await createNode(definition, filter.configuration, testContext())
      const bodies = ['20', '-40', '80', '81', '-41', '80.01', '-40.5'].map((value) => `{"temperature":${value}}`)
      const results = await runNode(
        instance,
        ...[...bodies, '{}', '{"humidity":3}'].map((data) => testMessage({ data })),
      )
      const passed = results.map(({ emissions }) => emissions[0]?.relations[0])
      assert.deepEqual(passed, ['True', 'True', 'True', 'False', 'False', 'False', 'False', 'True', 'True'])
    })
  }
})
