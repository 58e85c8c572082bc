import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { isJsonObject } from '../model/json.ts'
import { ruleNodes } from './catalogue.ts'
import { ruleNodesPage, SCRIPT_FIELDS } from './reference-page.ts'

test('the reference page of the rule nodes is the one the catalogue makes', async () => {
  const page = await readFile(join(import.meta.dirname, '..', 'docs', 'reference', 'rule-nodes.md'), 'utf8')
  assert.equal(page, ruleNodesPage(ruleNodes), 'run `npm run docs`')
})

test('every node stands on the page with all fields of its configuration, what it is tried with, and what it does otherwise', () => {
  const page = ruleNodesPage(ruleNodes)
  const sections = page.split('\n### ')
  for (const { name, type, description, configurationSchema, triedWith, differs } of ruleNodes) {
    const section = sections.find((text) => text.includes(`\n\`${type}\``)) ?? assert.fail(`${name} is not there`)
    assert.ok(section.startsWith(`${name}\n`) && section.includes(description), name)
    if (triedWith !== undefined) assert.ok(section.includes(`Tried with: ${triedWith}.`), name)
    if (differs !== undefined) assert.ok(section.includes(`Differs: ${differs}`), name)
    const fields = configurationSchema['properties']
    for (const field of isJsonObject(fields) ? Object.keys(fields) : [])
      assert.ok(section.includes(`| \`${field}\` |`) || SCRIPT_FIELDS.includes(field), `${name}: ${field}`)
  }
})

test('what calls a service says what it is tried with', () => {
  for (const { name, category, triedWith } of ruleNodes)
    if (category === 'EXTERNAL') assert.notEqual(triedWith ?? '', '', name)
})

test('each node has examples, which the test of the catalogue runs, or a test beside it', async () => {
  const sources: { readonly file: string; readonly text: string }[] = []
  for (const file of await readdir(import.meta.dirname, { recursive: true }))
    if (file.endsWith('.ts')) sources.push({ file, text: await readFile(join(import.meta.dirname, file), 'utf8') })
  const tests = sources.filter(({ file }) => file.endsWith('.test.ts'))
  for (const { name, type, examples } of ruleNodes) {
    if (examples.length > 0) continue
    const own = sources.find(
      ({ file, text }) => !tests.some((each) => each.file === file) && text.includes(`'${type}'`),
    )
    const imported = `/${basename(own?.file ?? assert.fail(name))}'`
    assert.ok(
      tests.some(({ text }) => text.includes(imported)),
      name,
    )
  }
})

const REFERENCE = join(import.meta.dirname, '..', '..', 'shared', 'reference', 'rule-nodes.md')
const skip = existsSync(REFERENCE) ? false : 'the description of the reference is not beside this checkout'

test('the types of the reference are those that are here', { skip }, async () => {
  const rows = (await readFile(REFERENCE, 'utf8')).matchAll(/^\| \d+ \|[^|]*\|[^|]*\| `(\w+\.[\w.]+)` \|/gm)
  const theirs = [...rows].map(([, suffix]) => `org.thingsboard.rule.engine.${suffix ?? ''}`)
  assert.ok(theirs.length > 70)
  const ours = ruleNodes.map(({ type }) => type).filter((type) => type.startsWith('org.thingsboard.'))
  assert.deepEqual(ours.toSorted(), theirs.toSorted())
})
