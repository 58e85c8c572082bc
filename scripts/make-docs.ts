/** Makes what is generated and committed (`npm run docs`): reference pages and the client. Tests beside their sources fail when one has drifted. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { clientFiles } from '../clients/generator/files.ts'
import { settingsPage } from '../config/print.ts'
import type { JsonObject } from '../model/json.ts'
import { ruleNodes } from '../nodes/catalogue.ts'
import { ruleNodesPage } from '../nodes/reference-page.ts'
import { openRestWorld } from '../test/security/rest-world.ts'

const reference = resolve(import.meta.dirname, '..', 'docs', 'reference')
await mkdir(reference, { recursive: true })
await writeFile(join(reference, 'settings.md'), settingsPage())
await writeFile(join(reference, 'rule-nodes.md'), ruleNodesPage(ruleNodes))

const world = await openRestWorld()
try {
  const response = await fetch(`${world.url}/v3/api-docs`)
  const description = (await response.json()) as JsonObject
  for (const [path, text] of await clientFiles(description)) await writeFile(path, text)
} finally {
  await world.close()
}
