import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ruleNodes } from './catalogue.ts'
import { ruleNodesPage } from './reference-page.ts'

test('the reference page of the rule nodes is the one the catalogue makes', async () => {
  const page = await readFile(join(import.meta.dirname, '..', 'docs', 'reference', 'rule-nodes.md'), 'utf8')
  assert.equal(page, ruleNodesPage(ruleNodes), 'run `npm run docs`')
})

test('every node and every field of its configuration is on the page', () => {
  const page = ruleNodesPage(ruleNodes)
  for (const node of ruleNodes) {
    assert.ok(page.includes(`\`${node.type}\``), node.type)
    assert.ok(page.includes(node.description), node.name)
  }
})
